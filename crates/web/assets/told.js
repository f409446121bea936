// What a seat was told, round by round.

import { el, plain } from "./dom.js";

/** Percepts in words. @param {string[]} sees */
export const saySees = (sees) => (sees.length ? sees.map(plain).join(", ") : "nothing");

/**
 * Rounds, the newest first.
 *
 * @param {import("./types.js").Told[]} told
 * @param {{you: string, onWhy?: ((round: number) => void)|null}} options   `you` is who was told: "you" or a role
 */
export function drawTold(told, options) {
  if (!told.length) {
    return el("p", { class: "nothing" }, "Nothing yet: the first round has not been played.");
  }
  const rounds = told.map((entry, index) => drawRound(entry, index + 1, options));
  return el("ol", { class: "told", reversed: true }, ...rounds.reverse());
}

/**
 * A round in which nothing was told takes one line.
 *
 * @param {import("./types.js").Told} entry
 * @param {number} round
 * @param {{you: string, onWhy?: ((round: number) => void)|null}} options
 */
function drawRound(entry, round, options) {
  const who = el("span", { class: "who" }, `${options.you} `);
  const none = !entry.sees.length && el("span", { class: "who" }, ", told nothing");
  return el(
    "li",
    { value: round },
    el("span", { class: "round" }, `${round}`),
    el("span", { class: "did" }, who, el("b", {}, plain(entry.move)), none),
    options.onWhy &&
      el(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => options.onWhy?.(round),
          "aria-label": `Why: what a player weighs in round ${round}`,
        },
        "why?",
      ),
    !none && el("span", { class: "sees" }, el("span", { class: "who" }, "told "), saySees(entry.sees)),
  );
}

/** The last round in one sentence, for the live region. @param {import("./types.js").Told[]} told */
export function sayLast(told) {
  const last = told[told.length - 1];
  return last ? `You played ${plain(last.move)}. You were told ${saySees(last.sees)}.` : "";
}
