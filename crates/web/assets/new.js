// A new table: parameters of the game, who sits where, seed and clock.

import { byId, el, show } from "./dom.js";
import { get, post } from "./api.js";
import { afterPaint, attempt, recall, remember } from "./page.js";
import { drawPicture } from "./picture.js";
import { SeatMenu } from "./seats.js";

/** @typedef {import("./types.js").Game} Game */

const wish = new URLSearchParams(location.search);
const rules = wish.get("rules") ? recall("rules") : null;
let game = /** @type {Game} */ (/** @type {any} */ (null));
let players = /** @type {import("./types.js").PlayerKind[]} */ ([]);
let menus = /** @type {SeatMenu[]} */ ([]);

async function start() {
  const loaded = await attempt(() =>
    Promise.all([loadGame(wish.get("game") ?? "krieg-tictactoe"), get("/api/players")]),
  );
  if (!loaded) return;
  [game, players] = loaded;
  players = [...players]
    .filter((player) => !(player.open_only && game.hidden))
    .sort((a, b) => Number(b.name === "auto") - Number(a.name === "auto"));
  byId("title").textContent = game.title;
  byId("about").textContent = game.about;
  drawForm();
  drawGame();
}

/** @param {string} name @returns {Promise<Game>} */
async function loadGame(name) {
  if (!rules) return get(`/api/games/${encodeURIComponent(name)}`);
  const checked = await post("/api/check", { rules });
  if (!checked.playable) throw new Error("The pasted rules have errors. Go back and correct them first.");
  return {
    name: "pasted rules",
    title: "Pasted rules",
    about: "Rules that you pasted.",
    tags: [],
    hidden: true,
    parameters: [],
    roles: checked.roles.filter((/** @type {string} */ role) => role !== "random"),
    rules,
    picture: checked.picture,
  };
}

function drawForm() {
  const choices = game.roles.map((_, index) => (index === 0 ? "me" : (wish.get("against") ?? "auto")));
  show(
    byId("form"),
    game.parameters.length > 0 && drawParameters(),
    el(
      "fieldset",
      { id: "seats" },
      el("legend", {}, "Seats"),
      el("div", { id: "seat-rows" }),
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", class: "quiet", id: "watch", onclick: watchInstead }, "Watch players instead"),
      ),
    ),
    drawSettings(),
    el("div", { class: "row" }, el("button", { type: "submit", class: "strong", id: "play" }, "Play")),
  );
  byId("form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    open();
  });
  drawSeats(choices);
}

/** @param {string[]} choices */
function drawSeats(choices) {
  menus = game.roles.map((role, index) => new SeatMenu(role, game.roles, players, choices[index] ?? "auto", named));
  show(byId("seat-rows"), ...menus.map((menu) => menu.element));
  named();
}

/** The button says what will happen. */
function named() {
  const people = menus.some((menu) => menu.isHuman);
  byId("play").textContent = menus.some((menu) => menu.isMe) ? "Play" : people ? "Open the table" : "Watch";
  byId("watch").hidden = !people;
  byId("delay-field").hidden = people;
}

function watchInstead() {
  drawSeats(game.roles.map(() => "auto"));
  byId("play").focus();
}

function drawParameters() {
  return el(
    "fieldset",
    {},
    el("legend", {}, "Game"),
    el(
      "div",
      { class: "fields" },
      ...game.parameters.map((parameter) =>
        el(
          "label",
          { class: "field" },
          `${parameter.about} (${parameter.min} to ${parameter.max})`,
          el("input", {
            type: "number",
            min: parameter.min,
            max: parameter.max,
            value: given(parameter.name) ?? parameter.default,
            "data-parameter": parameter.name,
            onchange: changed,
          }),
        ),
      ),
    ),
  );
}

/** The value of a parameter in the address. @param {string} name */
function given(name) {
  const pairs = (wish.get("game") ?? "").split(":")[1]?.split(",") ?? [];
  return pairs.map((pair) => pair.split("=")).find(([key]) => key === name)?.[1];
}

/** The game with its parameters, as in `monty-hall:doors=4`. */
function gameName() {
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[data-parameter]"));
  const base = (wish.get("game") ?? game.name).split(":")[0];
  const pairs = [...inputs].map((input) => `${input.dataset.parameter}=${input.value}`);
  return pairs.length ? `${base}:${pairs.join(",")}` : base;
}

/** New parameters may change the roles and always change the picture. */
async function changed() {
  const next = await attempt(() => get(`/api/games/${encodeURIComponent(gameName())}`));
  if (!next) return;
  const same = next.roles.join() === game.roles.join();
  game = next;
  drawGame();
  if (!same) drawSeats(game.roles.map((_, index) => (index === 0 ? "me" : "auto")));
}

function drawSettings() {
  return el(
    "fieldset",
    {},
    el("legend", {}, "Table"),
    el(
      "div",
      { class: "fields" },
      el(
        "label",
        { class: "field" },
        "seconds for a move of a person",
        el("input", { type: "number", id: "clock", min: 1, max: 86400, placeholder: "no clock" }),
      ),
      el(
        "label",
        { class: "field" },
        "seed",
        el("input", { type: "number", id: "seed", min: 0, placeholder: "by chance" }),
      ),
      el(
        "label",
        { class: "field", id: "delay-field" },
        "delay between rounds",
        el(
          "select",
          { id: "delay" },
          ...[0, 100, 500, 1000, 2000].map((ms) =>
            el("option", { value: ms, selected: ms === 500 }, ms ? `${ms / 1000} s` : "none"),
          ),
        ),
      ),
    ),
  );
}

function drawGame() {
  show(
    byId("game"),
    el("h2", {}, "The game"),
    game.picture &&
      el(
        "div",
        { class: "mini" },
        drawPicture({ parts: game.picture.parts, moves: [] }, { roles: game.roles, label: "The start" }).element,
      ),
    game.sees && el("p", {}, el("b", {}, "Told: "), game.sees),
    game.hidden_text && el("p", {}, el("b", {}, "Hidden: "), game.hidden_text),
    game.rules && el("details", {}, el("summary", {}, "Rules"), el("pre", { class: "words" }, game.rules)),
  );
}

async function open() {
  const clock = Number(byId("clock").value);
  const seed = byId("seed").value.trim();
  const times = Object.fromEntries(menus.filter((menu) => menu.time()).map((menu) => [menu.role, menu.time()]));
  const request = {
    ...(rules ? { rules } : { game: gameName() }),
    seats: Object.fromEntries(menus.map((menu) => [menu.role, menu.spec()])),
    ...(seed && { seed: Number(seed) }),
    ...(clock > 0 && { clock }),
    ...(Object.keys(times).length && { times }),
    ...(!menus.some((menu) => menu.isHuman) && { delay: Number(byId("delay").value) }),
  };
  await attempt(async () => {
    const made = await post("/api/tables", request);
    remember(`seats:${made.id}`, made.seats);
    const me = menus.find((menu) => menu.isMe);
    location.href = me ? made.seats[me.role].url : made.watch;
  });
}

afterPaint(start);
