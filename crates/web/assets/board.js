// One board as an accessible grid: a table with labelled cells, in which arrow keys move and Enter plays.

import { el, percent, plain, setVars, short } from "./dom.js";
import { certain, chance, drawPiece, isMark, roleClass, roleMark, sayPieces } from "./pieces.js";
import { Picker, key } from "./picker.js";

const STEPS = /** @type {Record<string, number[]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

export class Board {
  /**
   * @param {import("./types.js").BoardPart} part
   * @param {number} index   Index of the part in the picture
   * @param {import("./types.js").Picture} picture
   * @param {import("./picture.js").PictureOptions} options
   */
  constructor(part, index, picture, options) {
    this.part = part;
    this.index = index;
    this.options = options;
    this.picker = new Picker(
      picture.moves.filter((move) => move.part === index),
      this,
      options.onMove ?? null,
      options.hint ?? null,
    );
    this.changed = changes(part, options.before?.parts[index]);
    /** @type {Map<string, HTMLElement>} */
    this.places = new Map();
    this.element = this.draw();
    this.picker.mark();
    this.element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
  }

  draw() {
    const { part, options } = this;
    const cells = new Map(part.cells.map((cell) => [key(cell.row, cell.column), cell]));
    const head = el(
      "tr",
      { role: "row" },
      el("td", { role: "presentation" }),
      ...part.columns.map((name) => el("th", { role: "columnheader", scope: "col" }, name)),
    );
    const rows = part.rows.map((name, row) =>
      el(
        "tr",
        { role: "row", vars: { row } },
        el("th", { role: "rowheader", scope: "row" }, name),
        ...part.columns.map((_, column) => this.drawPlace(cells.get(key(row, column)), row, column)),
      ),
    );
    const size = `${part.rows.length} × ${part.columns.length}`;
    const first = this.places.values().next().value;
    if (first) first.tabIndex = 0;
    const track = part.rows.length === 1 ? " track" : "";
    return el(
      "figure",
      {
        class: `part board ${part.shape}${track}`,
        vars: { columns: part.columns.length, rows: part.rows.length },
      },
      el(
        "figcaption",
        {},
        part.role && roleMark(part.role, options.roles),
        part.role ? ` ${plain(part.name)} of ${part.role}` : plain(part.name),
      ),
      el(
        "table",
        { role: "grid", "aria-label": `${options.label ?? "Board"}: ${plain(part.name)}, ${size}` },
        el("thead", { role: "rowgroup" }, head),
        el("tbody", { role: "rowgroup" }, ...rows),
      ),
    );
  }

  /** @param {import("./types.js").Cell|undefined} cell @param {number} row @param {number} column */
  drawPlace(cell, row, column) {
    if (!cell) return el("td", { class: "gap", role: "presentation" });
    const { options } = this;
    const pieces = options.belief ? cell.pieces : certain(cell.pieces);
    const marks = pieces.filter(isMark);
    const solid = pieces.filter((piece) => !isMark(piece));
    const place = el(
      "td",
      {
        role: "gridcell",
        tabindex: -1,
        class: "cell",
        "aria-label": `${this.placeName(row, column)}: ${sayPieces(pieces)}`,
        "data-row": row,
        "data-column": column,
        onclick: () => this.activate(row, column),
        onfocus: () => this.rove(row, column),
      },
      el(
        "span",
        { class: `stack n${Math.min(solid.length, 5)}` },
        ...solid.map((piece) => drawPiece(piece, options.roles)),
      ),
      marks.length > 0 && el("span", { class: "marks" }, ...marks.map((piece) => drawPiece(piece, options.roles))),
    );
    if (options.belief) this.shade(place, solid.length ? solid : marks);
    this.addInformation(place, row, column);
    if (this.changed.has(key(row, column))) place.classList.add("fresh");
    this.places.set(key(row, column), place);
    return place;
  }

  /** Cell background and bar by how likely each piece is. @param {HTMLElement} place @param {any[]} pieces */
  shade(place, pieces) {
    const unsure = pieces.filter((piece) => chance(piece) < 1);
    if (!unsure.length) return;
    const top = unsure.reduce((a, b) => (chance(b) > chance(a) ? b : a));
    place.classList.add("shaded", roleClass(top.role, this.options.roles));
    setVars(place, {
      p: Math.min(
        unsure.reduce((sum, piece) => sum + chance(piece), 0),
        1,
      ),
    });
    place.append(
      el(
        "span",
        { class: "split", "aria-hidden": "true" },
        ...unsure.map((piece) =>
          el("i", { class: roleClass(piece.role, this.options.roles), vars: { p: chance(piece) } }),
        ),
      ),
    );
    if (this.options.numbers) {
      place.append(
        el(
          "span",
          { class: "number", "aria-hidden": "true" },
          unsure.map((piece) => percent(chance(piece)).replace(" %", "")).join("·"),
        ),
      );
    }
  }

  /** @param {HTMLElement} place @param {number} row @param {number} column */
  addInformation(place, row, column) {
    const bits = this.options.information;
    if (!bits) return;
    const own = this.picker.at(row, column).filter((move) => !move.from && move.move in bits);
    if (!own.length) return;
    const best = Math.max(...own.map((move) => bits[move.move]));
    const most = Math.max(...Object.values(bits), 1e-9);
    place.append(
      el(
        "span",
        { class: "bits", title: `${short(best)} bits expected`, vars: { share: best / most } },
        best < 0.005 ? "0" : best.toFixed(best < 1 ? 2 : 1),
      ),
    );
  }

  /** @param {number} row @param {number} column */
  placeName(row, column) {
    const { rows, columns } = this.part;
    return rows.length === 1 ? `place ${columns[column]}` : `row ${rows[row]}, column ${columns[column]}`;
  }

  /** @param {number} row @param {number} column */
  activate(row, column) {
    this.rove(row, column);
    this.picker.activate(row, column);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const place = /** @type {HTMLElement} */ (event.target).closest?.("td.cell");
    if (!(place instanceof HTMLElement)) return;
    const row = Number(place.dataset.row);
    const column = Number(place.dataset.column);
    if (event.key in STEPS) this.step(row, column, STEPS[event.key]);
    else if (event.key === "Home") this.focus(row, 0) || this.step(row, 0, [0, 1]);
    else if (event.key === "End") this.focus(row, this.part.columns.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.activate(row, column);
    else if (event.key === "Escape") this.picker.clear();
    else return;
    event.preventDefault();
  }

  /**
   * Moves the focus to the next cell in a direction.
   *
   * @param {number} row
   * @param {number} column
   * @param {number[]} step
   */
  step(row, column, [down, right]) {
    const { rows, columns } = this.part;
    for (let r = row + down, c = column + right; r >= 0 && c >= 0 && r < rows.length && c < columns.length;) {
      if (this.focus(r, c)) return;
      r += down;
      c += right;
    }
  }

  /** @param {number} row @param {number} column */
  focus(row, column) {
    const place = this.places.get(key(row, column));
    place?.focus();
    return Boolean(place);
  }

  focused() {
    const place = document.activeElement;
    if (!(place instanceof HTMLElement) || !this.element.contains(place) || !place.dataset.row) return null;
    return { part: this.index, row: Number(place.dataset.row), column: Number(place.dataset.column) };
  }

  /** Makes a cell the one that Tab reaches. @param {number} row @param {number} column */
  rove(row, column) {
    for (const place of this.places.values()) place.tabIndex = -1;
    const place = this.places.get(key(row, column));
    if (place) place.tabIndex = 0;
  }
}

/**
 * Cells whose certain pieces differ from the same board of an earlier picture.
 *
 * @param {import("./types.js").BoardPart} part
 * @param {import("./types.js").Part|undefined} before
 * @returns {Set<string>}
 */
function changes(part, before) {
  if (before?.kind !== "board" || before.name !== part.name) return new Set();
  const say = (/** @type {import("./types.js").Cell} */ cell) =>
    certain(cell.pieces)
      .map((p) => p.text)
      .join(" ");
  const old = new Map(before.cells.map((cell) => [key(cell.row, cell.column), say(cell)]));
  return new Set(
    part.cells
      .map((cell) => [key(cell.row, cell.column), say(cell)])
      .filter(([place, text]) => old.has(place) && old.get(place) !== text)
      .map(([place]) => place),
  );
}
