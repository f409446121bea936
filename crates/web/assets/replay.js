// A finished game, round by round, from any seat or as the referee saw it.

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

  isReferee() {
    return this.role === "referee";
  }

  who() {
    return this.role;
  }

  told() {
    return (this.answer?.told ?? []).slice(0, this.round);
  }

  /** @param {number} round @param {string} [role] */
  go(round, role = this.role) {
    this.round = Math.min(Math.max(round, 0), this.rounds);
    if (role !== this.role) this.table.page = 0;
    this.role = role;
    setFragment({ round: this.round, role });
    this.load();
  }

  /** Loads what round and role need, and draws once it is there. */
  async load() {
    const { round, role } = this;
    const current = () => round === this.round && role === this.role;
    const answer = await attempt(() => this.fetch("replay", { round, role }));
    if (!answer || !current()) return;
    this.answer = answer;
    this.rounds = answer.rounds ?? this.rounds;
    this.before = this.known.get(this.key("replay", { round: round - 1, role }))?.picture ?? null;
    if (!this.table.know) {
      this.belief = null;
      return this.table.render();
    }
    const seat = this.isReferee() ? (this.table.view.role ?? this.table.view.roles[0]) : role;
    const belief = await attempt(() => this.fetch("belief", { round, role: seat }));
    if (!current()) return;
    this.belief = belief ?? null;
    this.table.render();
    this.compare();
  }

  /** The beliefs of every seat at the end, for the chart of all of them. */
  async compare() {
    if (this.beliefs.length) return;
    const roles = this.table.view.roles.filter((role) => role !== "random");
    const all = await Promise.all(
      roles.map((role) => this.fetch("belief", { round: this.rounds, role }).catch(() => null)),
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

  draw() {
    const { view } = this.table;
    const step = (
      /** @type {string} */ id,
      /** @type {string} */ label,
      /** @type {string} */ sign,
      /** @type {number} */ to,
    ) =>
      el(
        "button",
        {
          type: "button",
          id,
          "aria-label": label,
          disabled: to < 0 || to > this.rounds,
          onclick: () => this.go(to),
        },
        sign,
      );
    const slider = el("input", {
      type: "range",
      id: "round",
      min: 0,
      max: this.rounds,
      value: this.round,
      "aria-label": "Round",
      "aria-valuetext": `after round ${this.round} of ${this.rounds}`,
      oninput: (/** @type {any} */ event) => this.go(Number(event.target.value)),
    });
    const perspective = el(
      "select",
      {
        id: "perspective",
        onchange: (/** @type {any} */ event) => this.go(this.round, event.target.value),
      },
      el("option", { value: "referee", selected: this.isReferee() }, "everything (referee)"),
      ...view.roles.map((role) =>
        el("option", { value: role, selected: role === this.role }, role === view.role ? `${role} (you)` : role),
      ),
    );
    return el(
      "div",
      { class: "scrubber", role: "group", "aria-label": "Replay" },
      el(
        "div",
        { class: "row" },
        step("first", "To the start", "«", 0),
        step("back", "One round back", "‹", this.round - 1),
        slider,
        step("next", "One round on", "›", this.round + 1),
        step("last", "To the end", "»", this.rounds),
        el("output", {}, `${this.round} / ${this.rounds}`),
      ),
      el("label", { class: "perspective" }, "Seen by ", perspective),
    );
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
