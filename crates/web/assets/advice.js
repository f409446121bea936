// Hint and why: what a player weighs for this seat.

import { el, percent, plain, short } from "./dom.js";
import { drawPicture } from "./picture.js";

/**
 * @typedef {{move: string, mean: number, stderr: number|null, visits: number}} Candidate
 * @typedef {{move: string, candidates: Candidate[], policy?: {move: string, p: number}[]|null, belief?: string,
 *            player?: string, made?: string|null, likely?: import("./types.js").Likely[]}} Advice
 */

/** @param {Advice} advice @param {{roles: string[], title: string}} options */
export function drawAdvice(advice, options) {
  return el(
    "div",
    { class: "advice" },
    el(
      "p",
      { class: "lead" },
      `${options.title}: `,
      el("b", {}, plain(advice.move)),
      advice.player && el("span", { class: "who" }, ` says ${advice.player}`),
      advice.made && advice.made !== advice.move && ` (you played ${plain(advice.made)})`,
    ),
    advice.candidates.length > 0 && drawCandidates(advice),
    Boolean(advice.policy?.length) && drawPolicy(advice.policy ?? []),
    advice.belief && el("details", {}, el("summary", {}, "Its belief"), el("pre", { class: "words" }, advice.belief)),
    ...(advice.likely ?? []).slice(0, 3).map((likely) => drawLine(likely, options.roles)),
  );
}

/** @param {Advice} advice */
function drawCandidates(advice) {
  const shown = advice.candidates.slice(0, 8);
  const rows = shown.map((candidate) =>
    el(
      "tr",
      { class: candidate.move === advice.move ? "best" : "" },
      el("th", { scope: "row" }, plain(candidate.move)),
      el("td", { class: "bar" }, el("i", { vars: { share: Math.max(0, Math.min(1, candidate.mean / 100)) } })),
      el(
        "td",
        { class: "amount" },
        short(candidate.mean),
        candidate.stderr !== null && el("span", { class: "error-bar" }, ` ± ${short(candidate.stderr)}`),
      ),
    ),
  );
  return el(
    "table",
    { class: "bars" },
    el(
      "caption",
      {},
      "Expected points",
      advice.candidates.length > shown.length && `, the best ${shown.length} of ${advice.candidates.length} moves`,
    ),
    el("tbody", {}, ...rows),
  );
}

/** @param {{move: string, p: number}[]} policy */
function drawPolicy(policy) {
  const rows = [...policy]
    .sort((a, b) => b.p - a.p)
    .slice(0, 8)
    .map((entry) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, plain(entry.move)),
        el("td", { class: "bar" }, el("i", { vars: { share: entry.p } })),
        el("td", { class: "amount" }, percent(entry.p)),
      ),
    );
  return el("table", { class: "bars" }, el("caption", {}, "Probability of each move"), el("tbody", {}, ...rows));
}

/** @param {import("./types.js").Likely} likely @param {string[]} roles */
function drawLine(likely, roles) {
  const line = (likely.line ?? []).map(sayStep).join(" → ");
  return el(
    "details",
    {},
    el("summary", {}, `If the state is this one (${percent(likely.p)})`),
    likely.picture &&
      el("div", { class: "mini" }, drawPicture(likely.picture, { roles, label: "Possible state" }).element),
    line && el("p", {}, `Expected play: ${line}`),
  );
}

/** A joint move as text, or as an object by role. @param {unknown} step */
function sayStep(step) {
  if (step && typeof step === "object") {
    return Object.entries(step)
      .map(([role, move]) => `${role} ${plain(String(move))}`)
      .join(", ");
  }
  return plain(String(step));
}
