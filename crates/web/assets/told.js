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
  const rounds = told.map((entry, index) =>
    el(
      "li",
      { value: index + 1 },
      el("span", { class: "round" }, `${index + 1}`),
      el("span", { class: "did" }, el("span", { class: "who" }, `${options.you} `), el("b", {}, plain(entry.move))),
      options.onWhy &&
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: () => options.onWhy?.(index + 1),
            "aria-label": `Why: what a player weighs in round ${index + 1}`,
          },
          "why?",
        ),
      el(
        "span",
        { class: entry.sees.length ? "sees" : "sees none" },
        el("span", { class: "who" }, "told "),
        saySees(entry.sees),
      ),
    ),
  );
  return el("ol", { class: "told", reversed: true }, ...rounds.reverse());
}

/** The last round in one sentence, for the live region. @param {import("./types.js").Told[]} told */
export function sayLast(told) {
  const last = told[told.length - 1];
  return last ? `You played ${plain(last.move)}. You were told ${saySees(last.sees)}.` : "";
}
