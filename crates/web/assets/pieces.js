// Pieces and role marks: colours that colour-blind readers can tell apart, and a shape for each role.

import { el, percent } from "./dom.js";

/** Colours that pieces and roles are often called. */
const COLOURS = [
  "white",
  "black",
  "red",
  "blue",
  "green",
  "yellow",
  "orange",
  "purple",
  "teal",
  "pink",
  "brown",
  "gray",
  "grey",
  "cyan",
];

/**
 * The colour that a name contains: as a word, or at the beginning of one. Three letters begin many words, so `red` has
 * to be followed by a number or by `player`.
 *
 * @param {string} name
 * @returns {string|undefined}
 */
export function namedColour(name) {
  for (const word of name.toLowerCase().split(/[^\p{L}\p{N}]+/u)) {
    const found = COLOURS.find(
      (colour) => word.startsWith(colour) && (colour.length > 3 || /^(\d*|player)$/.test(word.slice(colour.length))),
    );
    if (found) return found;
  }
  return undefined;
}

const SHAPES = ["●", "▲", "■", "◆", "★", "✚", "⬟", "♥"];

/**
 * The class of a role's colour; pieces of nobody are neutral.
 *
 * @param {string|null|undefined} role
 * @param {string[]} roles
 */
export function roleClass(role, roles) {
  const colour = role && namedColour(role);
  if (colour) return `colour-${colour}`;
  const index = role ? roles.indexOf(role) : -1;
  return index < 0 ? "nobody" : `role${index % SHAPES.length}`;
}

/** The shape of a role in its colour. @param {string} role @param {string[]} roles */
export function roleMark(role, roles) {
  const index = Math.max(roles.indexOf(role), 0);
  return el(
    "span",
    { class: `mark ${roleClass(role, roles)}`, "aria-hidden": "true" },
    SHAPES[index % SHAPES.length],
  );
}

/** @param {import("./types.js").Piece} piece */
export const chance = (piece) => piece.p ?? 1;

/** A remark about a cell, such as "tried": drawn small beside the pieces. @param {import("./types.js").Piece} piece */
export const isMark = (piece) => piece.glyph === "·";

/** Pieces that are certain. @param {import("./types.js").Piece[]} pieces */
export const certain = (pieces) => pieces.filter((piece) => chance(piece) >= 1);

/**
 * One piece. Its probability is the custom property `--p`, which the style turns into strength.
 *
 * @param {import("./types.js").Piece} piece
 * @param {string[]} roles
 */
export function drawPiece(piece, roles) {
  const face = piece.glyph || piece.text;
  const size = [...face].length > 2 ? "word" : "glyph";
  const owner = piece.role ? ` of ${piece.role}` : "";
  const colour = namedColour(piece.text);
  return el(
    "span",
    {
      class: `piece ${size} ${colour ? `colour-${colour}` : roleClass(piece.role, roles)}`,
      title: `${piece.text}${owner}`,
      vars: { p: chance(piece), letters: [...face].length },
    },
    face,
  );
}

/** Pieces in words, for screen readers. @param {import("./types.js").Piece[]} pieces */
export function sayPieces(pieces) {
  if (!pieces.length) return "empty";
  return pieces
    .map((piece) => {
      const owner = piece.role && piece.role !== piece.text ? ` of ${piece.role}` : "";
      return chance(piece) < 1 ? `${piece.text}${owner} ${percent(chance(piece))}` : `${piece.text}${owner}`;
    })
    .join(", ");
}
