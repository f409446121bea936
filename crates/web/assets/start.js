// The start page: three games worth trying, all games, pasted rules, and records.

import { byId, el, plain, show } from "./dom.js";
import { get, post } from "./api.js";
import { afterPaint, attempt, remember } from "./page.js";
import { drawPicture } from "./picture.js";
import { makeEditor } from "./editor.js";

/** @typedef {import("./types.js").Game} Game */

const PICKS = [
  [
    "krieg-tictactoe:size=4,line=3",
    "Noughts and crosses in the dark: you hear whether marks succeed, never where. Work out the rest.",
  ],
  ["monty-hall", "One car, three doors. The host opens one. The belief view shows why you should switch."],
  ["blind-breakthrough", "Race a pawn across the board against an army that you only meet by bumping into it."],
];

let games = /** @type {Game[]} */ ([]);
const wanted = new Set();

async function start() {
  show(byId("picks"), ...PICKS.map(([name, why]) => drawPick(name, why)));
  show(byId("editor"), makeEditor({ onPlay: playRules }));
  byId("search").addEventListener("input", drawGames);
  byId("record").addEventListener("change", upload);
  games = (await attempt(() => get("/api/games"))) ?? [];
  drawTags();
  drawGames();
}

/** @param {string} name @param {string} why */
function drawPick(name, why) {
  const preview = el("div", { class: "mini", "aria-hidden": "true" });
  const title = el("h3", { class: "pick-title" }, titleOf(name));
  get(`/api/games/${encodeURIComponent(name)}`)
    .then((game) => {
      title.textContent = game.title;
      if (game.picture)
        show(preview, drawPicture({ parts: game.picture.parts, moves: [] }, { roles: game.roles }).element);
      for (const cell of preview.querySelectorAll("[tabindex]")) cell.removeAttribute("tabindex");
    })
    .catch(() => {});
  return el(
    "article",
    { class: "pick panel" },
    title,
    preview,
    el("p", {}, why),
    el(
      "div",
      { class: "row" },
      el(
        "button",
        {
          type: "button",
          class: "strong",
          "data-play": name,
          onclick: () => playNow(name),
          "aria-label": `Play ${titleOf(name)}`,
        },
        "Play",
      ),
      el("a", { class: "button", href: link(name), "aria-label": `Choose seats of ${titleOf(name)}` }, "Seats …"),
    ),
  );
}

/** @param {string} name */
const titleOf = (name) =>
  name
    .split(":")[0]
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");

/** @param {string} name */
const link = (name) => `/new.html?game=${encodeURIComponent(name)}`;

/** A table with a person in the first seat and `auto` in the others. @param {string} name */
async function playNow(name) {
  await attempt(async () => {
    const game = await get(`/api/games/${encodeURIComponent(name)}`);
    await openTable({ game: name, seats: { [game.roles[0]]: "human" } });
  });
}

/** @param {Record<string, unknown>} request */
async function openTable(request) {
  const made = await post("/api/tables", request);
  remember(`seats:${made.id}`, made.seats);
  const own = /** @type {{url: string}|undefined} */ (Object.values(made.seats)[0]);
  location.href = own ? own.url : made.watch;
}

/** @param {string} rules */
function playRules(rules) {
  remember("rules", rules);
  location.href = "/new.html?rules=mine";
}

function drawTags() {
  const tags = [...new Set(games.flatMap((game) => game.tags))].sort();
  show(
    byId("tags"),
    ...tags.map((tag) =>
      el(
        "button",
        {
          type: "button",
          class: "tag",
          "aria-pressed": "false",
          onclick: (/** @type {any} */ event) => {
            const on = !wanted.has(tag);
            if (on) wanted.add(tag);
            else wanted.delete(tag);
            event.target.setAttribute("aria-pressed", on);
            drawGames();
          },
        },
        tag,
      ),
    ),
  );
}

function drawGames() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = games.filter((game) => {
    const text = `${game.name} ${game.title} ${game.about} ${game.tags.join(" ")}`.toLowerCase();
    return (
      words.every((/** @type {string} */ word) => text.includes(word)) &&
      [...wanted].every((tag) => game.tags.includes(tag))
    );
  });
  byId("found").textContent =
    found.length === games.length ? `${games.length} games` : `${found.length} of ${games.length} games`;
  show(
    byId("games"),
    ...found.map((game) =>
      el(
        "article",
        { class: "game card-box" },
        el("h3", {}, el("a", { href: link(game.name) }, game.title)),
        el(
          "button",
          { type: "button", onclick: () => playNow(game.name), "aria-label": `Play ${game.title}` },
          "Play",
        ),
        el("p", {}, plain(game.about)),
        el(
          "span",
          { class: "kind" },
          [
            game.hidden ? "hidden" : "open",
            `${game.roles.length === 1 ? "1 seat" : `${game.roles.length} seats`}`,
            ...game.tags.filter((tag) => !["hidden", "perfect"].includes(tag) && !/player/.test(tag)),
          ].join(" · "),
        ),
      ),
    ),
  );
}

/** @param {any} event */
async function upload(event) {
  const file = event.target.files[0];
  if (!file) return;
  await attempt(async () => {
    let record;
    try {
      record = JSON.parse(await file.text());
    } catch {
      throw new Error(`${file.name} is no JSON file. Choose a record that a game manager wrote.`);
    }
    const made = await post("/api/records", record);
    location.href = made.watch;
  });
  event.target.value = "";
}

afterPaint(start);
