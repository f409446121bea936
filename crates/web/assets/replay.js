// A game that may be seen whole, round by round, from any seat or as the referee saw it.

import { el, plain } from "./dom.js";
import { get, query } from "./api.js";
import { attempt, fragment, setFragment } from "./page.js";
import { saySees } from "./told.js";

const KEPT = 2000;

/**
 * @typedef {{round: number, rounds: number, role: string, picture: import("./types.js").Picture,
 *            told?: import("./types.js").Told[], moves?: any, sees?: any}} ReplayAnswer
 */

export class Replay {
  /** @param {import("./table.js").Table} table */
  constructor(table) {
    this.table = table;
    this.role = "referee";
    this.rounds = table.view.round;
    this.round = this.rounds;
    this.answer = /** @type {ReplayAnswer|null} */ (null);
    this.before = /** @type {import("./types.js").Picture|null} */ (null);
    this.belief = /** @type {import("./types.js").Belief|null} */ (null);
    this.beliefs = /** @type {import("./types.js").Belief[]} */ ([]);
    /** @type {Map<string, any>} */
    this.known = new Map();
    this.truth = /** @type {import("./types.js").Picture|null} */ (null);
    this.busy = false;
    this.stale = false;
    /** @type {HTMLButtonElement[]} */
    this.back = [];
    /** @type {HTMLButtonElement[]} */
    this.on = [];
    this.controls = this.makeControls();
    this.follow();
  }

  /** Takes round and role from the address. */
  follow() {
    const values = fragment();
    const round = Number(values.get("round") ?? this.rounds);
    const role = values.get("role");
    this.round = Number.isInteger(round) ? Math.min(Math.max(round, 0), this.rounds) : this.rounds;
    this.role = role && this.table.view.roles.includes(role) ? role : "referee";
    this.load();
  }

  /** The game went on: the newest round is followed if it was shown. @param {number} rounds */
  extend(rounds) {
    if (rounds === this.rounds) return;
    const newest = this.round === this.rounds;
    this.rounds = rounds;
    this.beliefs = [];
    if (!newest) return;
    this.round = rounds;
    this.load();
  }

  isReferee() {
    return this.role === "referee";
  }

  /** The picture to draw; the newest round is in the view already. */
  picture() {
    const { view } = this.table;
    if (this.isReferee() && this.round === view.round && view.board) return view.board;
    return this.answer?.picture ?? null;
  }

  told() {
    return (this.answer?.told ?? []).slice(0, this.round);
  }

  /** @param {number} round @param {string} [role] */
  go(round, role = this.role) {
    this.round = Math.min(Math.max(round, 0), this.rounds);
    if (role !== this.role) this.table.page = 0;
    this.role = role;
    setFragment({ round: this.round === this.rounds && this.table.view.watching ? null : this.round, role });
    this.update();
    this.load();
  }

  /** Loads what round and role need, and draws once it is there. Requests that follow meanwhile become one. */
  async load() {
    this.stale = true;
    if (this.busy) return;
    this.busy = true;
    while (this.stale) {
      this.stale = false;
      await attempt(() => this.loadOnce());
    }
    this.busy = false;
    this.table.render();
    if (this.table.know && this.table.view.finished) this.compare();
  }

  async loadOnce() {
    const { round, role } = this;
    const answer = await this.fetch("replay", { round, role });
    const before = round > 0 && this.known.get(this.key("replay", { round: round - 1, role }));
    const seat = this.isReferee() ? (this.table.view.role ?? this.table.view.roles[0]) : role;
    const belief = this.table.know ? await this.fetch("belief", { round, role: seat }) : null;
    const truth = belief && (belief.truth ?? (await this.fetch("replay", { round, role: "referee" })).picture);
    if (this.stale) return;
    this.answer = answer;
    this.before = before ? before.picture : null;
    this.belief = belief;
    this.truth = truth;
  }

  /** The beliefs of every seat at the end, for the chart of all of them. */
  async compare() {
    if (this.beliefs.length) return;
    const all = await Promise.all(
      this.table.view.roles.map((role) => this.fetch("belief", { round: this.rounds, role }).catch(() => null)),
    );
    this.beliefs = all.filter(Boolean);
    this.table.render();
  }

  /** @param {string} what @param {{round: number, role: string}} where */
  key(what, where) {
    return `${what} ${where.round} ${where.role}`;
  }

  /** @param {string} what @param {{round: number, role: string}} where */
  async fetch(what, where) {
    const key = this.key(what, where);
    if (!this.known.has(key)) {
      const { id, token } = this.table;
      const answer = await get(`/api/tables/${encodeURIComponent(id)}/${what}${query({ token, ...where })}`);
      if (this.known.size >= KEPT) this.known.clear();
      this.known.set(key, answer);
    }
    return this.known.get(key);
  }

  /** The controls are made once: a slider that is replaced while it is dragged lets go. */
  makeControls() {
    const { view } = this.table;
    /** @param {string} id @param {string} label @param {string} sign @param {() => number} to */
    const step = (id, label, sign, to) =>
      el("button", { type: "button", id, "aria-label": label, onclick: () => this.go(to()) }, sign);
    this.slider = el("input", { type: "range", id: "round", min: 0, "aria-label": "Round" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.perspective = el(
      "select",
      { id: "perspective" },
      el("option", { value: "referee" }, "everything (referee)"),
      ...view.roles.map((role) => el("option", { value: role }, role === view.role ? `${role} (you)` : role)),
    );
    this.perspective.addEventListener("change", () => this.go(this.round, this.perspective.value));
    this.back = [
      step("first", "To the start", "«", () => 0),
      step("back", "One round back", "‹", () => this.round - 1),
    ];
    this.on = [
      step("next", "One round on", "›", () => this.round + 1),
      step("last", "To the end", "»", () => this.rounds),
    ];
    this.output = el("output", {});
    return el(
      "div",
      { class: "scrubber", role: "group", "aria-label": "Replay" },
      el("div", { class: "row" }, ...this.back, this.slider, ...this.on, this.output),
      el("label", { class: "perspective" }, "Seen by ", this.perspective),
    );
  }

  /** Brings the controls up to date. */
  update() {
    this.slider.max = this.rounds;
    this.slider.value = this.round;
    this.slider.setAttribute("aria-valuetext", `after round ${this.round} of ${this.rounds}`);
    this.perspective.value = this.role;
    for (const button of this.back) button.disabled = this.round <= 0;
    for (const button of this.on) button.disabled = this.round >= this.rounds;
    this.output.textContent = `${this.round} / ${this.rounds}`;
  }

  /** Every round with all moves and percepts, the newest first. */
  drawRounds() {
    const { view } = this.table;
    const moves = list(this.answer?.moves, this.round);
    if (!moves.length) return el("p", { class: "nothing" }, "The start of the game.");
    const sees = list(this.answer?.sees, this.round);
    const rounds = moves.map((joint, index) =>
      el(
        "li",
        { value: index + 1 },
        el("span", { class: "round" }, `${index + 1}`),
        ...entries(joint, view.roles).map(([role, move]) =>
          el("span", { class: "did" }, el("span", { class: "who" }, `${role} `), el("b", {}, plain(String(move)))),
        ),
        ...entries(sees[index], view.roles)
          .filter(([, seen]) => seen?.length)
          .map(([role, seen]) =>
            el("span", { class: "sees" }, el("span", { class: "who" }, `${role} told `), saySees(seen)),
          ),
      ),
    );
    return el("ol", { class: "told", reversed: true }, ...rounds.reverse());
  }
}

/** @param {any} rounds @param {number} upTo @returns {any[]} */
const list = (rounds, upTo) => (Array.isArray(rounds) ? rounds.slice(0, upTo) : []);

/**
 * Values by role: an object, or a list in the order of the roles.
 *
 * @param {any} values
 * @param {string[]} roles
 * @returns {[string, any][]}
 */
function entries(values, roles) {
  if (!values) return [];
  if (Array.isArray(values)) return values.map((value, index) => [roles[index] ?? "random", value]);
  return Object.entries(values);
}
