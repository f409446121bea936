// A solver run: value, convergence, strategy by situation, and the tree.

import { byId, count, el, percent, plain, short, show } from "./dom.js";
import { lineChart } from "./chart.js";
import { roleClass, roleMark } from "./pieces.js";
import { drawTree } from "./tree.js";
import { figureBox, follow } from "./job.js";

/** @typedef {{role: string, view: import("./types.js").Told[], policy: Record<string, number>}} Situation */

const SHOWN = 200;

follow((job) => {
  byId("title").textContent = `Solve ${job.game}`;
  document.title = `${job.game} – Surmise`;
  const measure = job.result?.algorithm === "lp" ? "gap of the linear program" : "NashConv, points";
  show(byId("curve"), Boolean(job.curve?.length) && drawCurve(measure, job.curve ?? []));
  if (!job.result) return;
  const roles = (job.result.roles ?? Object.keys(job.result.value)).filter(
    (/** @type {string} */ role) => role !== "random",
  );
  drawFigures(job.result, roles);
  drawStrategy(job.result.strategy ?? [], roles);
  show(
    byId("tree"),
    ...(job.result.tree?.length
      ? [
          el("h2", {}, "The tree"),
          el(
            "p",
            { class: "legend" },
            ...roles.map((/** @type {string} */ role) =>
              el("span", { class: roleClass(role, roles) }, el("i", {}, "● "), `${role} `),
            ),
            "◆ chance. Dashed: nodes of one information set. Thick: moves that the strategy plays.",
          ),
          drawTree(job.result.tree, roles),
        ]
      : []),
  );
});

/** @param {string} name @param {import("./types.js").Point[]} points */
function drawCurve(name, points) {
  const title = `Distance from an equilibrium (${name})`;
  return lineChart({ title, x: "iterations", y: name, log: true, series: [{ name, class: "role0", points }] });
}

/** @param {any} result @param {string[]} roles */
function drawFigures(result, roles) {
  show(
    byId("figures"),
    ...roles.map((role) => figureBox(`Value for ${role}`, short(result.value[role]), "points of 100")),
    figureBox(
      "NashConv",
      short(result.nash_conv),
      result.equilibrium_promised === false ? "no equilibrium is promised here" : "0 is an equilibrium",
    ),
    figureBox("Information sets", short(result.infosets), `${short(result.histories)} histories`),
    figureBox("Algorithm", String(result.algorithm), `${short(result.iterations)} iterations`),
  );
}

/** @param {Situation[]} strategy @param {string[]} roles */
function drawStrategy(strategy, roles) {
  const sections = roles.map((role) => {
    const own = strategy.filter((situation) => situation.role === role);
    const choices = own.filter((situation) => Object.keys(situation.policy).length > 1);
    return el(
      "details",
      { open: choices.length <= 24 },
      el("summary", {}, roleMark(role, roles), ` ${role}: ${count(choices.length, "situation")} with a choice`),
      el(
        "table",
        { class: `list ${roleClass(role, roles)}` },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Situation"), el("th", { scope: "col" }, "Plays"))),
        el("tbody", {}, ...choices.slice(0, SHOWN).map(drawSituation)),
      ),
      choices.length > SHOWN &&
        el("p", { class: "note" }, `The first ${SHOWN} are shown; surmise solve --save writes all.`),
    );
  });
  show(byId("strategy"), el("h2", {}, "Strategy"), ...sections);
}

/** @param {Situation} situation */
function drawSituation(situation) {
  const rounds = situation.view.map((told) => {
    const seen = told.sees.length ? ` (told ${told.sees.map(plain).join(", ")})` : "";
    return `${plain(told.move)}${seen}`;
  });
  const moves = Object.entries(situation.policy).sort(([, a], [, b]) => b - a);
  return el(
    "tr",
    {},
    el("td", { class: "situation" }, rounds.length ? rounds.join(" → ") : "at the start"),
    el(
      "td",
      {},
      el(
        "table",
        { class: "bars" },
        el(
          "tbody",
          {},
          ...moves.map(([move, p]) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, plain(move)),
              el("td", { class: "bar" }, el("i", { vars: { share: p } })),
              el("td", { class: "amount" }, percent(p)),
            ),
          ),
        ),
      ),
    ),
  );
}
