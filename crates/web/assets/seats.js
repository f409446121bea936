// The menu of one seat: me, another person, or a player with its options and time.

import { el, show } from "./dom.js";
import { roleMark } from "./pieces.js";

/** @typedef {import("./types.js").PlayerKind} PlayerKind */

export class SeatMenu {
  /**
   * @param {string} role
   * @param {string[]} roles
   * @param {PlayerKind[]} players
   * @param {string} choice   `me`, `person` or the name of a player
   * @param {() => void} onChange
   */
  constructor(role, roles, players, choice, onChange) {
    this.role = role;
    this.players = players;
    this.onChange = onChange;
    /** @type {Map<string, HTMLInputElement>} */
    this.inputs = new Map();
    this.detail = el("div", { class: "detail" });
    this.select = el(
      "select",
      { id: `seat-${role}`, "data-role": role, onchange: () => this.chosen() },
      el("option", { value: "me" }, "Me"),
      el("option", { value: "person" }, "Another person, by link"),
      el(
        "optgroup",
        { label: "Players" },
        ...players.map((player) =>
          el("option", { value: `player ${player.name}` }, `${player.name}: ${player.summary}`),
        ),
      ),
    );
    this.select.value = choice === "me" || choice === "person" ? choice : `player ${choice}`;
    this.element = el(
      "div",
      { class: "seat-row" },
      el("label", { for: `seat-${role}` }, roleMark(role, roles), ` ${role}`),
      this.select,
      this.detail,
    );
    this.drawDetail();
  }

  chosen() {
    this.drawDetail();
    this.onChange();
  }

  get isHuman() {
    return this.select.value === "me" || this.select.value === "person";
  }

  get isMe() {
    return this.select.value === "me";
  }

  /** @returns {PlayerKind|undefined} */
  kind() {
    return this.players.find((player) => `player ${player.name}` === this.select.value);
  }

  drawDetail() {
    this.inputs.clear();
    const kind = this.kind();
    if (!kind) {
      show(this.detail, this.isMe ? null : el("p", { class: "note" }, "You get a link to send them."));
      return;
    }
    const option = (
      /** @type {string} */ name,
      /** @type {string} */ label,
      /** @type {string} */ hint,
      /** @type {string} */ title,
    ) => {
      const input = el("input", { type: "text", placeholder: hint, title, "data-option": name });
      this.inputs.set(name, input);
      return el("label", { title }, label, input);
    };
    show(
      this.detail,
      el("p", { class: "note" }, kind.use ? `Use it when ${kind.use}.` : kind.summary),
      el(
        "details",
        {},
        el("summary", { class: "note" }, "Time and options"),
        el(
          "div",
          { class: "options" },
          option("", "seconds a move", "as many as it likes", "Thinking time for each move"),
          ...kind.options.map((o) => option(o.name, o.name, o.default ?? "", o.about)),
        ),
      ),
    );
  }

  /** What the server is told: `human`, or a player with its options. */
  spec() {
    if (this.isHuman) return "human";
    const kind = this.kind();
    const options = [...this.inputs]
      .filter(([name, input]) => name && input.value.trim())
      .map(([name, input]) => `${name}=${input.value.trim()}`);
    return options.length ? `${kind?.name}:${options.join(",")}` : (kind?.name ?? "auto");
  }

  /** Thinking time in seconds, if any was given. */
  time() {
    const value = Number(this.inputs.get("")?.value.trim() || NaN);
    return value > 0 ? value : null;
  }
}
