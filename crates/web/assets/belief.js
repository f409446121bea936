// The belief view: what a seat can know. The board of the table shows the shading; this panel shows the rest.

import { count, el, percent, plain, short } from "./dom.js";
import { drawPicture } from "./picture.js";
import { lineChart } from "./chart.js";
import { roleClass } from "./pieces.js";

/** @typedef {import("./types.js").Belief} Belief */

/** How much is open, in one sentence. @param {Belief} belief @param {string} who */
export function sayBelief(belief, who) {
  const told = `what ${who} ${who === "you" ? "were" : "was"} told`;
  const states = count(belief.states, "state");
  if (!belief.exact) {
    return `${states} that fit ${told} were found; there may be more. The numbers are estimates from samples.`;
  }
  if (belief.states === 1) return `One state fits ${told}: ${who} can be sure of it.`;
  const histories = count(belief.histories, "history", "histories");
  return `${states} and ${histories} fit ${told}. The numbers are exact if the others choose at random.`;
}

/**
 * The panel beside the board. `page` keeps which of the likely states is open.
 *
 * @param {Belief} belief
 * @param {{roles: string[], page: number, onPage: (page: number) => void}} options
 */
export function drawBelief(belief, options) {
  return el(
    "div",
    { class: "belief-panel" },
    belief.likely.length > 0 && drawLikely(belief, options),
    belief.information.length > 0 && drawInformation(belief),
  );
}

/** @param {Belief} belief @param {{roles: string[], page: number, onPage: (page: number) => void}} options */
function drawLikely(belief, options) {
  const last = belief.likely.length - 1;
  const page = Math.min(options.page, last);
  const likely = belief.likely[page];
  const turn = (/** @type {number} */ step, /** @type {string} */ label, /** @type {string} */ sign) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": label,
        "data-turn": step,
        disabled: page + step < 0 || page + step > last,
        onclick: () => options.onPage(page + step),
      },
      sign,
    );
  const body = likely.picture
    ? drawPicture(likely.picture, { roles: options.roles, label: `Possible state ${page + 1}` }).element
    : el("p", {}, (likely.facts ?? []).map(plain).join(" · "));
  return el(
    "section",
    { class: "likely" },
    el("h3", {}, "Likely states"),
    el(
      "div",
      { class: "pager" },
      turn(-1, "Likelier state", "‹"),
      el(
        "span",
        {},
        `${page + 1} of ${belief.likely.length}`,
        belief.states > belief.likely.length && ` (of ${belief.states.toLocaleString("en")})`,
      ),
      turn(1, "Less likely state", "›"),
      el("span", { class: "share", vars: { p: likely.p } }, percent(likely.p)),
    ),
    el("div", { class: "mini" }, body),
  );
}

/** @param {Belief} belief */
function drawInformation(belief) {
  const sorted = [...belief.information].sort((a, b) => b.bits - a.bits);
  const most = Math.max(sorted[0].bits, 1e-9);
  const rows = sorted
    .slice(0, 8)
    .map((entry) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, plain(entry.move)),
        el("td", { class: "bar" }, el("i", { vars: { share: entry.bits / most } })),
        el("td", { class: "amount" }, short(Math.max(entry.bits, 0))),
      ),
    );
  const spread = sorted[0].bits - sorted[sorted.length - 1].bits;
  return el(
    "section",
    {},
    el("h3", {}, "What each move would tell"),
    spread < 1e-9
      ? el("p", {}, `Every legal move tells the same: ${short(Math.max(sorted[0].bits, 0))} bits.`)
      : el(
          "table",
          { class: "bars" },
          el(
            "caption",
            {},
            "Expected information in bits",
            sorted.length > 8 && `, the best 8 of ${sorted.length} moves`,
          ),
          el("tbody", {}, ...rows),
        ),
  );
}

/**
 * How the belief moved over the game, of one seat or of all.
 *
 * @param {Belief} belief
 * @param {{roles: string[], others?: Belief[]}} options
 */
export function drawEntropy(belief, options) {
  const all = options.others?.length ? options.others : [belief];
  if (Math.max(...all.map((b) => b.entropy.length)) < 2) return null;
  return lineChart({
    title: "How much was open after each round, in bits",
    x: "round",
    y: "Entropy of the belief in bits",
    at: belief.round,
    series: all.map((b) => ({
      name: b.role,
      class: roleClass(b.role, options.roles),
      points: b.entropy.map((entry) => ({ x: entry.round, y: entry.bits })),
    })),
  });
}

/**
 * Belief beside truth, for those to whom the whole game is open.
 *
 * @param {Belief} belief
 * @param {import("./types.js").Picture|null} actual
 * @param {{roles: string[], numbers: boolean}} options
 */
export function drawAgainstTruth(belief, actual, options) {
  const believed = drawPicture(belief.board, {
    roles: options.roles,
    belief: true,
    numbers: options.numbers,
    label: `What ${belief.role} could believe`,
  });
  if (!actual) return believed.element;
  const truth = drawPicture(actual, { roles: options.roles, label: "What was true" });
  return el(
    "div",
    { class: "side-by-side" },
    el("section", {}, el("h3", {}, `What ${belief.role} could believe`), believed.element),
    el("section", {}, el("h3", {}, "What was true"), truth.element),
  );
}
