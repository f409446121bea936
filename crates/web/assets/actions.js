// Buttons around the board: undo, hint, why, watching, links for others, result, rematch and record.

import { byId, el } from "./dom.js";
import { get, query } from "./api.js";
import { attempt, copyFrom, recall, remember } from "./page.js";
import { drawAdvice } from "./advice.js";
import { roleClass, roleMark } from "./pieces.js";
import { playerName } from "./seatbar.js";

/** @typedef {import("./table.js").Table} Table */

/** @param {string} id @param {string} label @param {() => unknown} onclick @param {Record<string, unknown>} [more] */
function button(id, label, onclick, more = {}) {
  return el("button", { type: "button", id, onclick, ...more }, label);
}

/** @param {Table} table */
export function drawActions(table) {
  const { view } = table;
  if (view.finished) return null;
  if (view.watching) return drawWatching(table);
  if (!view.role) return null;
  return el("div", { class: "row" }, drawUndo(table), view.to_move && button("hint", "Hint", () => hint(table)));
}

/** @param {Table} table */
function drawUndo(table) {
  const { undo } = table.view;
  if (undo.asked) {
    return el(
      "span",
      { class: "row" },
      el("span", { class: "note" }, "Another person asks to take back the last move."),
      button("undo", "Agree to take back", () => takeBack(table, true), { class: "strong" }),
      button("refuse", "Refuse", () => takeBack(table, false)),
    );
  }
  if (undo.waiting) return el("span", { class: "note" }, "You asked to take back. Waiting for the others to agree.");
  const label = undo.needs_consent ? "Ask to take back" : "Take back";
  return button("undo", label, () => takeBack(table, true), { disabled: !undo.possible });
}

/** @param {Table} table @param {boolean} agree */
async function takeBack(table, agree) {
  const view = await attempt(() => table.call("undo", agree ? {} : { agree }));
  // The event stream brings the same view, in order.
  if (view && table.offline) table.receive(view);
}

/** @param {Table} table */
async function hint(table) {
  const own = byId("hint");
  own.disabled = true;
  own.textContent = "Thinking …";
  const advice = await attempt(() => table.call("hint"));
  if (advice) table.advice = { title: "Hint", advice };
  table.render();
}

/** @param {Table} table */
export function drawAdvicePanel(table) {
  const { advice } = table;
  if (!advice) return null;
  return el(
    "div",
    {},
    el("h2", {}, "Advice"),
    drawAdvice(advice.advice, { roles: table.view.roles, title: advice.title }),
    button(
      "no-advice",
      "Close",
      () => {
        table.advice = null;
        table.render();
      },
      { class: "quiet" },
    ),
  );
}

/** @param {Table} table */
function drawWatching(table) {
  const watching = table.view.watching ?? { running: false, delay: 500 };
  const control = (/** @type {string} */ what, /** @type {Record<string, unknown>} */ more = {}) =>
    attempt(async () => {
      const view = await table.call("control", { do: what, ...more });
      if (view && table.offline) table.receive(view);
    });
  const delays = [0, 100, 500, 1000, 2000, 5000];
  const known = delays.includes(watching.delay) ? delays : [...delays, watching.delay].sort((a, b) => a - b);
  return el(
    "div",
    { class: "row" },
    watching.running ? button("stop", "Stop", () => control("stop")) : button("go", "Go on", () => control("go")),
    button("step", "One round", () => control("step"), { disabled: watching.running }),
    el(
      "label",
      {},
      "Delay ",
      el(
        "select",
        {
          id: "delay",
          onchange: (/** @type {any} */ event) => control("delay", { delay: Number(event.target.value) }),
        },
        ...known.map((delay) =>
          el("option", { value: delay, selected: delay === watching.delay }, delay ? `${delay / 1000} s` : "none"),
        ),
      ),
    ),
  );
}

/** Links for the other people of a table that this tab opened. @param {Table} table */
export function drawInvite(table) {
  const seats = /** @type {Record<string, {url: string}>|null} */ (recall(`seats:${table.id}`));
  const others = Object.entries(seats ?? {}).filter(([role]) => role !== table.view.role);
  if (!others.length || table.view.finished) return null;
  return el(
    "details",
    { class: "invite", open: table.view.round === 0 },
    el("summary", {}, "Links for the others"),
    ...others.map(([role, seat]) => {
      const address = new URL(seat.url, location.href).href;
      return el(
        "p",
        { class: roleClass(role, table.view.roles) },
        roleMark(role, table.view.roles),
        ` ${role} `,
        el("input", {
          type: "text",
          readonly: true,
          value: address,
          "aria-label": `Link for ${role}`,
          class: "link",
          onfocus: (/** @type {any} */ event) => event.target.select(),
        }),
        el(
          "button",
          { type: "button", onclick: (/** @type {any} */ event) => copyFrom(event.target, address) },
          "Copy",
        ),
      );
    }),
    el("p", { class: "note" }, "Whoever has a link plays that seat and sees what it is told."),
  );
}

/** @param {Table} table */
export function drawResult(table) {
  const { view } = table;
  const rows = view.roles
    .filter((role) => view.goals?.[role] !== undefined)
    .map((role) =>
      el(
        "tr",
        { class: roleClass(role, view.roles) },
        el("th", { scope: "row" }, roleMark(role, view.roles), ` ${role}`),
        el("td", { class: "who" }, playerName(view.players[role], role === view.role)),
        el("td", { class: "bar" }, el("i", { vars: { share: (view.goals?.[role] ?? 0) / 100 } })),
        el("td", { class: "amount" }, view.goals?.[role] ?? ""),
      ),
    );
  return el(
    "div",
    {},
    el("h2", {}, view.aborted ? "Given up" : "Result"),
    el("table", { class: "bars" }, el("caption", {}, "Points"), el("tbody", {}, ...rows)),
    el(
      "div",
      { class: "row" },
      view.rematch
        ? el("a", { class: "button strong", id: "to-rematch", href: view.rematch }, "Your seat in the rematch")
        : view.role &&
            button("rematch", view.roles.length > 1 ? "Rematch, seats changed" : "Play again", () => rematch(table), {
              class: "strong",
            }),
      el("a", { class: "button", href: `/new.html${query({ game: view.game })}` }, "New table"),
      button("record", "Download the record", () => download(table)),
      button("position", "Copy link to this position", () => copyFrom(byId("position"), positionLink(table))),
    ),
  );
}

/** The link uses the watcher's token: whoever gets it cannot ask for a rematch as this seat. @param {Table} table */
function positionLink(table) {
  const base = new URL(table.view.watch ?? location.href, location.href);
  const values = new URLSearchParams(base.hash.slice(1));
  values.set("round", String(table.replay?.round ?? table.view.round));
  values.set("role", table.replay?.role ?? "referee");
  base.hash = values.toString();
  return base.href;
}

/** @param {Table} table */
async function rematch(table) {
  const made = await attempt(() => table.call("rematch"));
  if (!made) return;
  remember(`seats:${made.id}`, made.seats);
  const { roles, role } = table.view;
  const from = roles.indexOf(role ?? "");
  const next = roles.map((_, step) => roles[(from + 1 + step) % roles.length]).find((name) => made.seats[name]);
  // The page loads anew when the table in its address changes.
  location.href = next ? made.seats[next].url : made.watch;
}

/** @param {Table} table */
async function download(table) {
  const record = await attempt(() => get(`/api/tables/${table.id}/record${query({ token: table.token })}`));
  if (!record) return;
  const blob = new Blob([JSON.stringify(record)], { type: "application/json" });
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: `${table.view.game.replace(/[^\w.-]+/g, "-")}-${table.id}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
