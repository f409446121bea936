// The table: one seat, a watcher, or a finished game. The server's view is the only source of what is shown.

import { byId, el, plain, show } from "./dom.js";
import { get, listen, post, query } from "./api.js";
import { attempt, fragment, recall, remember, showError } from "./page.js";
import { announce } from "./live.js";
import { drawPicture, movesWithoutPlace } from "./picture.js";
import { drawTold, sayLast } from "./told.js";
import { drawAgainstTruth, drawBelief, drawEntropy, sayBelief } from "./belief.js";
import { Replay } from "./replay.js";
import { drawActions, drawAdvicePanel, drawInvite, drawResult } from "./actions.js";
import { drawSeats, sayStatus } from "./seatbar.js";

/**
 * @typedef {object} Table
 * @property {string} id
 * @property {string} token
 * @property {import("./types.js").View} view
 * @property {import("./types.js").Picture|null} before   Picture of the round before, to mark what changed
 * @property {import("./types.js").Belief|null} belief
 * @property {boolean} know       Whether the belief view is open
 * @property {boolean} numbers    Whether cells show percentages
 * @property {boolean} bits       Whether cells show expected information
 * @property {number} page        Which of the likely states is open
 * @property {boolean} sending    Whether a move is on its way
 * @property {{title: string, advice: import("./advice.js").Advice}|null} advice
 * @property {Replay|null} replay
 * @property {boolean} offline    Whether the event stream is interrupted
 * @property {(view: import("./types.js").View) => void} receive
 * @property {() => void} render
 * @property {(path: string, body?: Record<string, unknown>) => Promise<any>} call
 */

const table = /** @type {Table} */ ({
  id: fragment().get("id") ?? "",
  token: fragment().get("token") ?? "",
  view: /** @type {any} */ (null),
  before: null,
  belief: null,
  know: Boolean(recall("know")),
  numbers: Boolean(recall("numbers")),
  bits: Boolean(recall("bits")),
  page: 0,
  sending: false,
  advice: null,
  replay: null,
  offline: false,
  receive,
  render,
  call: (path, body) => post(`/api/tables/${encodeURIComponent(table.id)}/${path}`, { token: table.token, ...body }),
});

let deadline = 0;

/** The newest view as text. */
let received = "";

async function start() {
  window.addEventListener("hashchange", onHashChange);
  byId("skip").addEventListener("click", (/** @type {Event} */ event) => {
    event.preventDefault();
    const cell = document.querySelector("#board td.playable") ?? document.querySelector("#board td[tabindex='0']");
    (cell instanceof HTMLElement ? cell : byId("main")).focus();
  });
  if (!table.id) return showError(new Error("This address names no table. Start a game from the first page."));
  const address = `/api/tables/${encodeURIComponent(table.id)}`;
  const first = await attempt(() => get(`${address}${query({ token: table.token })}`));
  if (!first) {
    byId("status").textContent = "This table cannot be shown.";
    return;
  }
  receive(first);
  listen(`${address}/events${query({ token: table.token })}`, receive, (open) => {
    table.offline = !open;
    byId("offline").hidden = open;
  });
  setInterval(tick, 250);
}

/** Another seat of the same address bar: load the page anew. */
function onHashChange() {
  const now = fragment();
  if (now.get("id") !== table.id || now.get("token") !== table.token) location.reload();
  else table.replay?.follow();
}

/** Takes a new view from the server. @param {import("./types.js").View} view */
function receive(view) {
  const text = JSON.stringify(view);
  // Answers and events bring the same view twice.
  if (text === received) return;
  received = text;
  const old = table.view;
  const moved = !old || old.round !== view.round || old.finished !== view.finished;
  if (old && old.round !== view.round) {
    table.before = view.round > old.round ? old.board : null;
    table.belief = null;
    table.page = 0;
    table.advice = null;
  }
  if (moved || old.to_move !== view.to_move) {
    deadline = view.clock && view.to_move ? performance.now() + view.clock * 1000 : 0;
  }
  table.view = view;
  table.sending = false;
  if (view.finished || view.watching) {
    table.replay ??= new Replay(table);
    table.replay.extend(view.round);
  } else {
    table.replay = null;
  }
  render();
  if (moved) tell(old);
  if (moved) loadBelief();
}

/** Announces what happened. @param {import("./types.js").View|null} old */
function tell(old) {
  const { view } = table;
  const news = old && view.told.length > old.told.length ? `${sayLast(view.told)} ` : "";
  announce(`${news}${sayStatus(table)}`);
  document.title = `${view.to_move && !view.finished ? "● " : ""}${view.title} – Surmise`;
}

async function loadBelief() {
  const { view } = table;
  if (!table.know || !view.role || view.finished) return;
  const round = view.round;
  const answer = await attempt(() =>
    get(`/api/tables/${encodeURIComponent(table.id)}/belief${query({ token: table.token })}`),
  );
  if (!answer || table.view.round !== round || table.view.finished) return;
  table.belief = answer;
  render();
}

function render() {
  const { view } = table;
  byId("title").textContent = view.title || view.game;
  show(byId("seats"), drawSeats(view));
  show(byId("invite"), drawInvite(table));
  renderStatus();
  renderTools();
  renderBoard();
  renderMoves();
  show(byId("actions"), drawActions(table));
  renderSide();
  tick();
}

function renderStatus() {
  const { view } = table;
  byId("status").textContent = sayStatus(table);
  document.body.classList.toggle("my-move", view.to_move && !view.finished && !table.sending);
}

function renderTools() {
  const { view } = table;
  const allowed = view.finished || view.role || view.watching;
  if (!allowed || (!view.board && !view.finished)) return show(byId("tools"));
  const has = table.know && (table.belief || table.replay);
  const bits = table.bits && !view.finished;
  keepFocus(byId("tools"), () =>
    show(
      byId("tools"),
      toggle("know", view.role && !view.finished ? "What I can know" : "What they can know", table.know),
      has && toggle("numbers", "Numbers", table.numbers),
      has && !view.finished && view.role && toggle("bits", "Information", bits),
    ),
  );
}

/** A switch that is remembered. @param {"know"|"numbers"|"bits"} name @param {string} label @param {boolean} on */
function toggle(name, label, on) {
  return el(
    "button",
    {
      type: "button",
      class: "toggle",
      id: `toggle-${name}`,
      "aria-pressed": on,
      onclick: () => {
        table[name] = !table[name];
        remember(name, table[name]);
        render();
        if (name === "know" && table.know) table.replay ? table.replay.load() : loadBelief();
      },
    },
    label,
  );
}

function renderBoard() {
  const { view } = table;
  const box = byId("board");
  if (table.replay) {
    show(box, drawReplay(table.replay));
    if (table.replay.controls.parentElement !== byId("scrubber")) show(byId("scrubber"), table.replay.controls);
    table.replay.update();
    return;
  }
  show(byId("scrubber"));
  if (!view.board) return show(box, el("p", { class: "nothing" }, "The board is shown when the game is over."));
  const old = boardDrawn?.focused();
  const belief = table.know ? table.belief : null;
  // The moves come from the view: a belief may be older.
  const picture = belief ? { parts: belief.board.parts, moves: view.board.moves } : view.board;
  boardDrawn = drawPicture(picture, {
    roles: view.roles,
    belief: Boolean(belief),
    numbers: table.numbers,
    before: table.before,
    information: belief && table.bits ? Object.fromEntries(belief.information.map((i) => [i.move, i.bits])) : null,
    hint: table.advice?.title === "Hint" ? table.advice.advice.move : null,
    onMove: view.to_move ? play : null,
  });
  show(box, boardDrawn.element);
  if (old) boardDrawn.focus(old);
}

let boardDrawn = /** @type {ReturnType<typeof drawPicture>|null} */ (null);

/** @param {Replay} replay */
function drawReplay(replay) {
  const roles = table.view.roles;
  if (table.know && replay.belief) {
    return drawAgainstTruth(replay.belief, replay.truth, { roles, numbers: table.numbers });
  }
  const picture = replay.picture();
  if (!picture) return el("p", { class: "nothing" }, "Loading …");
  return drawPicture({ parts: picture.parts, moves: [] }, { roles, before: replay.before }).element;
}

function renderMoves() {
  const { view } = table;
  const box = byId("moves");
  if (view.finished || !view.to_move || !view.board) return show(box);
  const moves = movesWithoutPlace(view.board);
  const bits =
    table.know && table.bits && table.belief
      ? new Map(table.belief.information.map((entry) => [entry.move, entry.bits]))
      : new Map();
  keepFocus(box, () =>
    show(
      box,
      ...moves.map((move) =>
        el(
          "button",
          {
            type: "button",
            class: "move",
            id: `move-${move.move}`,
            onclick: () => play(move.move),
          },
          move.label || plain(move.move),
          bits.has(move.move) && el("small", {}, ` ${Math.max(bits.get(move.move), 0).toFixed(2)} bits`),
        ),
      ),
    ),
  );
}

/** @param {string} move */
async function play(move) {
  if (table.sending) return;
  table.sending = true;
  renderStatus();
  const view = await attempt(() => table.call("move", { move }));
  table.sending = false;
  // The event stream may have brought a later view already.
  if (view && view.round >= table.view.round) receive(view);
  renderStatus();
}

function renderSide() {
  const { view, replay } = table;
  const result = byId("result");
  result.hidden = !view.finished;
  if (view.finished) keepFocus(result, () => show(result, drawResult(table)));
  renderKnow();
  const advice = byId("advice");
  advice.hidden = !table.advice;
  if (table.advice) show(advice, drawAdvicePanel(table));
  const told = replay ? replay.told() : view.told;
  const who = replay ? replay.role : "you";
  byId("told").hidden = !replay && !view.role;
  keepFocus(byId("told"), () =>
    show(
      byId("told"),
      el(
        "h2",
        {},
        who === "you" ? "What you were told" : who === "referee" ? "What happened" : `What ${who} was told`,
      ),
      replay?.isReferee()
        ? replay.drawRounds()
        : drawTold(told, {
            you: who,
            onWhy: replay || !view.role ? null : (round) => why(round),
          }),
    ),
  );
}

function renderKnow() {
  const box = byId("know");
  const belief = table.know ? (table.replay ? table.replay.belief : table.belief) : null;
  const known = byId("known");
  box.hidden = known.hidden = !belief;
  show(byId("chart"), belief && drawEntropy(belief, { roles: table.view.roles, others: table.replay?.beliefs }));
  if (!belief) return;
  const own = !table.replay && table.view.role;
  known.textContent = sayBelief(belief, own ? "you" : belief.role);
  keepFocus(box, () =>
    show(
      box,
      el("h2", {}, own ? "What you can know" : `What ${belief.role} could know`),
      drawBelief(belief, {
        roles: table.view.roles,
        page: table.page,
        onPage: (page) => {
          table.page = page;
          renderKnow();
        },
      }),
    ),
  );
}

/** @param {number} round */
async function why(round) {
  const advice = await attempt(() => table.call("why", { round }));
  if (!advice) return;
  table.advice = { title: `Round ${round}`, advice };
  render();
  byId("advice").scrollIntoView({ block: "nearest" });
}

/**
 * Draws again without losing the keyboard's place: the same id or the same button text.
 *
 * @param {Element} box
 * @param {() => void} draw
 */
function keepFocus(box, draw) {
  const had = document.activeElement;
  if (!had || !box.contains(had)) return draw();
  const { id } = had;
  const turn = had.getAttribute("data-turn");
  const label = had.getAttribute("aria-label") ?? had.textContent;
  draw();
  const again =
    (id && document.getElementById(id)) ||
    (turn && box.querySelector(`[data-turn="${turn}"]:not(:disabled)`)) ||
    (turn && box.querySelector("[data-turn]:not(:disabled)")) ||
    [...box.querySelectorAll("button, input, select")].find(
      (node) => (node.getAttribute("aria-label") ?? node.textContent) === label,
    );
  if (again instanceof HTMLElement) again.focus();
}

function tick() {
  const clock = byId("clock");
  const left = deadline ? Math.max(0, (deadline - performance.now()) / 1000) : 0;
  clock.hidden = !deadline || table.view?.finished;
  if (clock.hidden) return;
  const whole = Math.ceil(left);
  clock.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  clock.classList.toggle("late", left < 5);
}

start();
