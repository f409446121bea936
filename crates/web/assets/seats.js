// The menu of one seat: me, another person, or a player with its options and time.

import { el, show } from "./dom.js";
import { roleMark } from "./pieces.js";

/** @typedef {import("./types.js").PlayerKind} PlayerKind */

export class SeatMenu {
  /**
   * @param {string} role
   * @param {string[]} roles
   * @param {PlayerKind[]} players
   * @param {string} choice   `me`, `person`, the name of a player, or a saved player
   * @param {() => void} onChange
   */
  constructor(role, roles, players, choice, onChange) {
    this.role = role;
    this.players = players;
    this.onChange = onChange;
    /** @type {Map<string, HTMLInputElement>} */
    this.inputs = new Map();
    this.detail = el("div", { class: "detail" });
    const saved = players.flatMap((player) => player.saved ?? []);
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
      saved.length > 0 &&
        el(
          "optgroup",
          { label: "Saved strategies and networks" },
          ...saved.map((spec) => el("option", { value: `saved ${spec}` }, spec)),
        ),
    );
    const value = [choice, `saved ${choice}`, `player ${choice}`].find((wanted) =>
      [...this.select.options].some((option) => option.value === wanted),
    );
    this.select.value = value ?? "player auto";
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
      const link = this.select.value === "person" && el("p", { class: "note" }, "You get a link to send them.");
      show(this.detail, link);
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
    if (this.select.value.startsWith("saved ")) return this.select.value.slice("saved ".length);
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
