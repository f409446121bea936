// From clicks and keys to moves: a cell that one move stands for is played at once, from-to moves take two steps, and
// a menu opens where several moves share a place.

import { el } from "./dom.js";
import { announce } from "./live.js";

/** A cell as a map key. @param {number} row @param {number} column */
export const key = (row, column) => `${row},${column}`;

/** @typedef {import("./types.js").Move} Move */

/** @param {number[]|null|undefined} place @param {string} cell */
const is = (place, cell) =>
  Boolean(place) && key(/** @type {number[]} */ (place)[0], /** @type {number[]} */ (place)[1]) === cell;

export class Picker {
  /**
   * @param {Move[]} moves
   * @param {import("./board.js").Board} board
   * @param {((move: string) => void)|null} onMove
   * @param {string|null} hint   A move to point at
   */
  constructor(moves, board, onMove, hint) {
    this.moves = moves;
    this.board = board;
    this.onMove = onMove;
    this.hint = hint;
    this.selected = /** @type {string|null} */ (null);
    this.menu = /** @type {HTMLElement|null} */ (null);
  }

  /** Moves that begin or end in a cell. @param {number} row @param {number} column */
  at(row, column) {
    const cell = key(row, column);
    return this.moves.filter((move) => is(move.to, cell) || is(move.from, cell));
  }

  /** @param {number} row @param {number} column */
  activate(row, column) {
    if (!this.onMove) return;
    const cell = key(row, column);
    const from = this.selected;
    const arrivals = from ? this.moves.filter((move) => is(move.from, from) && is(move.to, cell)) : [];
    const direct = this.moves.filter((move) => !move.from && is(move.to, cell));
    const starts = this.moves.filter((move) => is(move.from, cell));
    if (from) this.clear();
    if (arrivals.length) this.choose(arrivals, cell);
    else if (from === cell) announce("Nothing selected.");
    else if (direct.length) this.choose([...direct, ...starts], cell);
    else if (starts.length) this.select(cell, starts);
    else announce("No move of yours is here.");
  }

  /** @param {string} cell @param {Move[]} starts */
  select(cell, starts) {
    this.selected = cell;
    this.mark();
    announce(`Selected. ${starts.length} ${starts.length === 1 ? "target" : "targets"}. Escape to let go.`);
  }

  clear() {
    this.closeMenu();
    if (this.selected === null) return;
    this.selected = null;
    this.mark();
  }

  /** @param {Move[]} moves @param {string} cell */
  choose(moves, cell) {
    this.closeMenu();
    if (moves.length === 1) this.play(moves[0]);
    else this.openMenu(moves, cell);
  }

  /** @param {Move} move */
  play(move) {
    this.closeMenu();
    this.onMove?.(move.move);
  }

  /** @param {Move[]} moves @param {string} cell */
  openMenu(moves, cell) {
    const buttons = moves.map((move) =>
      el("button", { type: "button", role: "menuitem", onclick: () => this.play(move) }, move.label),
    );
    const menu = el("div", { class: "move-menu", role: "menu", "aria-label": "Moves here" }, ...buttons);
    menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
      if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length].focus();
      else if (event.key === "ArrowUp") buttons[(at + buttons.length - 1) % buttons.length].focus();
      else if (event.key === "Escape") this.leaveMenu(cell);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    menu.addEventListener("click", (/** @type {Event} */ event) => event.stopPropagation());
    this.menu = menu;
    this.board.places.get(cell)?.append(menu);
    buttons[0].focus();
  }

  /** @param {string} cell */
  leaveMenu(cell) {
    this.closeMenu();
    this.board.places.get(cell)?.focus();
  }

  closeMenu() {
    this.menu?.remove();
    this.menu = null;
  }

  /** Marks cells that can be played, selected, or reached from the selected cell. */
  mark() {
    for (const [cell, place] of this.board.places) {
      const direct = this.moves.some((move) => !move.from && is(move.to, cell));
      const start = this.moves.some((move) => is(move.from, cell));
      const target =
        this.selected !== null &&
        this.moves.some((move) => is(move.from, /** @type {string} */ (this.selected)) && is(move.to, cell));
      const active = Boolean(this.onMove);
      place.classList.toggle("playable", active && (direct || start));
      place.classList.toggle("target", active && target);
      place.classList.toggle("selected", this.selected === cell);
      place.classList.toggle(
        "hinted",
        this.moves.some((move) => move.move === this.hint && (is(move.to, cell) || is(move.from, cell))),
      );
      if (active && (direct || start || target)) place.setAttribute("aria-describedby", "can-play");
    }
  }
}
