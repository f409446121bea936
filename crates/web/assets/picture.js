// A picture of a game, drawn: boards, hands, counters and facts, in the order in which the server sends them.

import { el, percent, plain } from "./dom.js";
import { Board } from "./board.js";
import { certain, chance, drawPiece, roleClass, roleMark } from "./pieces.js";

/**
 * @typedef {object} PictureOptions
 * @property {string[]} roles      Roles of the game, for colours
 * @property {boolean} [belief]    Whether uncertain pieces are drawn, and cells shaded
 * @property {boolean} [numbers]   Whether probabilities are written into cells
 * @property {import("./types.js").Picture|null} [before]   An earlier picture: what changed since is marked
 * @property {Record<string, number>|null} [information]    Expected bits of each move
 * @property {((move: string) => void)|null} [onMove]       Called with the chosen move; without it nothing is played
 * @property {string|null} [hint]  A move that was advised
 * @property {string} [label]      What the picture shows, for screen readers
 */

/**
 * Draws a picture. The answer has the element and `focus(place)`, which brings the keyboard back to a cell.
 *
 * @param {import("./types.js").Picture} picture
 * @param {PictureOptions} options
 */
export function drawPicture(picture, options) {
  const root = el("div", { class: `picture${options.belief ? " belief" : ""}` });
  /** @type {Board[]} */
  const boards = [];
  const small = el("div", { class: "small-parts" });
  picture.parts.forEach((part, index) => {
    if (part.kind === "board") {
      const board = new Board(part, index, picture, options);
      boards.push(board);
      root.append(board.element);
    } else {
      small.append(drawPart(part, options));
    }
  });
  if (small.childElementCount) root.append(small);
  if (boards.length > 1) root.classList.add(boards.length > 2 ? "main-and-more" : "many");
  return {
    element: root,
    /** @param {{part: number, row: number, column: number}} place */
    focus: (place) => boards.find((board) => board.index === place.part)?.focus(place.row, place.column),
    focused: () => boards.map((board) => board.focused()).find(Boolean) ?? null,
  };
}

/** Moves that no cell of the picture stands for. @param {import("./types.js").Picture} picture */
export function movesWithoutPlace(picture) {
  return picture.moves.filter((move) => {
    const part = move.part === null || move.part === undefined ? null : picture.parts[move.part];
    return part?.kind !== "board" || !(move.to || move.from);
  });
}

/** @param {import("./types.js").Part} part @param {PictureOptions} options */
function drawPart(part, options) {
  if (part.kind === "hand") return drawHand(part, options);
  if (part.kind === "counter") return drawCounter(part, options);
  return drawList(/** @type {import("./types.js").ListPart} */ (part), options);
}

/** @param {import("./types.js").Piece[]} pieces @param {PictureOptions} options */
const visible = (pieces, options) => (options.belief ? pieces : certain(pieces));

/** @param {import("./types.js").HandPart} part @param {PictureOptions} options */
function drawHand(part, options) {
  const cards = visible(part.cards, options).map((card) =>
    el(
      "li",
      { class: `card ${roleClass(card.role, options.roles)}`, vars: { p: chance(card) } },
      el("span", { class: "face" }, card.glyph || plain(card.text)),
      card.glyph && card.glyph !== card.text && el("span", { class: "word" }, plain(card.text)),
      chance(card) < 1 && el("span", { class: "number" }, percent(chance(card))),
    ),
  );
  return el(
    "figure",
    { class: "part hand" },
    partName(part, options.roles),
    cards.length ? el("ul", {}, ...cards) : el("p", { class: "nothing" }, "nothing you know of"),
  );
}

/** @param {import("./types.js").CounterPart} part @param {PictureOptions} options */
function drawCounter(part, options) {
  const values = visible(part.values, options);
  const shown = values.length ? values : [{ text: "–", p: 1 }];
  return el(
    "figure",
    { class: "part counter" },
    partName(part, options.roles),
    ...shown.map((value) =>
      el(
        "span",
        { class: "value", vars: { p: chance(value) } },
        plain(value.text),
        chance(value) < 1 && el("span", { class: "number" }, ` ${percent(chance(value))}`),
      ),
    ),
    part.of && el("span", { class: "of" }, ` / ${plain(part.of)}`),
  );
}

/** @param {import("./types.js").ListPart} part @param {PictureOptions} options */
function drawList(part, options) {
  const facts = visible(part.facts, options).map((fact) =>
    el(
      "li",
      { vars: { p: chance(fact) } },
      fact.glyph ? drawPiece(fact, options.roles) : plain(fact.text),
      chance(fact) < 1 && el("span", { class: "number" }, ` ${percent(chance(fact))}`),
    ),
  );
  return el(
    "figure",
    { class: "part facts" },
    partName(part, options.roles),
    facts.length ? el("ul", {}, ...facts) : el("p", { class: "nothing" }, "nothing you know of"),
  );
}

/** @param {{name: string, role?: string|null}} part @param {string[]} roles */
function partName(part, roles) {
  return el(
    "figcaption",
    {},
    part.role && roleMark(part.role, roles),
    part.role ? ` ${plain(part.name)} of ${part.role}` : plain(part.name),
  );
}
