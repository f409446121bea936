// Experiments of the lab, and runs of the solver and of training, kept up to date while the page is open.

import { byId, el, show } from "./dom.js";
import { get, post } from "./api.js";
import { afterPaint, attempt, showError } from "./page.js";

const EVERY_MS = 2000;

/**
 * @typedef {{name: string, title: string, units: number, done: number, running: boolean,
 *            report: string|null}} Experiment
 */

async function start() {
  await Promise.all([drawForm(), refresh()]);
  setInterval(() => document.hidden || refresh(), EVERY_MS);
}

async function refresh() {
  try {
    const [lab, jobs] = await Promise.all([get("/api/lab"), get("/api/jobs")]);
    if (changed("lab", lab)) show(byId("lab"), drawLab(lab));
    if (changed("jobs", jobs)) show(byId("jobs"), drawJobs(jobs));
  } catch (error) {
    showError(error);
  }
}

const last = /** @type {Record<string, string>} */ ({});

/**
 * Whether an answer differs from the one before: an unchanged list keeps focus and selection.
 *
 * @param {string} what
 * @param {unknown} answer
 */
function changed(what, answer) {
  const text = JSON.stringify(answer);
  const differs = last[what] !== text;
  last[what] = text;
  return differs;
}

/** @param {Experiment[]} experiments */
function drawLab(experiments) {
  if (!experiments.length) {
    return el(
      "p",
      { class: "nothing" },
      "No experiments yet. surmise lab run 2012-figure-5 plays one; surmise serve --lab DIR shows its folder.",
    );
  }
  return el(
    "table",
    { class: "list" },
    el(
      "thead",
      {},
      el("tr", {}, ...["Experiment", "Progress", "Report"].map((name) => el("th", { scope: "col" }, name))),
    ),
    el(
      "tbody",
      {},
      ...experiments.map((experiment) =>
        el(
          "tr",
          {},
          el("td", {}, el("b", {}, experiment.title || experiment.name), el("br"), el("small", {}, experiment.name)),
          el(
            "td",
            {},
            el("progress", {
              max: Math.max(experiment.units, 1),
              value: experiment.done,
              "aria-label": `Progress of ${experiment.name}`,
            }),
            el(
              "small",
              {},
              ` ${experiment.done} of ${experiment.units} matches${experiment.running ? ", running" : ""}`,
            ),
          ),
          el(
            "td",
            {},
            experiment.report ? el("a", { href: experiment.report }, "Report") : el("small", {}, "not yet"),
          ),
        ),
      ),
    ),
  );
}

/** @param {import("./job.js").Job[]} jobs */
function drawJobs(jobs) {
  if (!jobs.length) return el("p", { class: "nothing" }, "No runs yet. Choose a game above.");
  return el(
    "table",
    { class: "list" },
    el("thead", {}, el("tr", {}, ...["Run", "State", ""].map((name) => el("th", { scope: "col" }, name)))),
    el(
      "tbody",
      {},
      ...jobs.map((job) =>
        el(
          "tr",
          {},
          el("td", {}, el("a", { href: jobLink(job) }, `${job.kind} ${job.game}`)),
          el("td", {}, job.state, job.state === "running" && " …"),
          el("td", {}, el("small", {}, job.note ?? "")),
        ),
      ),
    ),
  );
}

/** @param {{id: string, kind: string}} job */
const jobLink = (job) => `/${job.kind === "train" ? "train" : "solve"}.html#id=${encodeURIComponent(job.id)}`;

async function drawForm() {
  const games = (await attempt(() => get("/api/games"))) ?? [];
  const names = el(
    "datalist",
    { id: "names" },
    ...games.map((/** @type {{name: string}} */ game) => el("option", { value: game.name })),
  );
  const form = byId("start-job");
  show(
    form,
    el(
      "label",
      {},
      "Game ",
      el("input", { type: "text", id: "job-game", list: "names", value: "kuhn-poker", required: true }),
    ),
    names,
    el("button", { type: "button", class: "strong", id: "solve", onclick: () => startJob("solve") }, "Solve"),
    el("button", { type: "button", id: "train", onclick: () => startJob("train") }, "Train for"),
    el(
      "label",
      {},
      el("input", { type: "number", id: "minutes", min: 1, max: 10, value: 1, "aria-label": "Minutes of training" }),
      " minutes",
    ),
  );
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    startJob("solve");
  });
}

/** @param {"solve"|"train"} kind */
async function startJob(kind) {
  await attempt(async () => {
    const game = byId("job-game").value.trim();
    const more = kind === "train" ? { minutes: Number(byId("minutes").value) || 1 } : {};
    const job = await post("/api/jobs", { kind, game, ...more });
    location.href = jobLink(job);
  });
}

afterPaint(start);
