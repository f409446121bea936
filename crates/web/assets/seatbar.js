// Who sits where, and the one sentence that says what is going on.

import { count, el } from "./dom.js";
import { roleClass, roleMark } from "./pieces.js";

/** A player for people. @param {string|undefined} player @param {boolean} own */
export function playerName(player, own) {
  if (own) return "you";
  return player === "human" ? "another person" : (player ?? "a player");
}

/** @param {import("./types.js").View} view */
export function drawSeats(view) {
  return el(
    "ul",
    {},
    ...view.roles.map((role) => {
      const own = role === view.role;
      const goal = view.finished ? view.goals?.[role] : undefined;
      return el(
        "li",
        { class: `seat ${roleClass(role, view.roles)}${own ? " own" : ""}` },
        roleMark(role, view.roles),
        el("span", { class: "name" }, ` ${role} `),
        el("span", { class: "who" }, playerName(view.players[role], own)),
        goal !== undefined && el("b", { class: "goal" }, ` ${goal}`),
      );
    }),
  );
}

/** @param {import("./table.js").Table} table */
export function sayStatus(table) {
  const { view } = table;
  if (view.aborted) return "The game was given up.";
  if (view.finished) return sayEnd(view);
  const round = `Round ${view.round + 1}`;
  if (view.watching) return view.watching.running ? `${round}. The players move on.` : `${round}. Stopped.`;
  if (!view.role) return `${count(view.round, "round")} played. A watcher sees the board when the game is over.`;
  if (table.sending) return `${round}. Sending the move.`;
  return view.to_move ? `${round}. Your move.` : `${round}. Waiting for the others.`;
}

/** @param {import("./types.js").View} view */
function sayEnd(view) {
  const goals = view.goals ?? {};
  const own = view.role ? goals[view.role] : undefined;
  if (own === undefined) return `The game is over: ${sayGoals(view)}.`;
  const others = view.roles.filter((role) => role !== view.role).map((role) => goals[role] ?? 0);
  if (!others.length) return `The game is over. You have ${own} of 100 points.`;
  const best = Math.max(...others);
  const outcome = own > best ? "You won" : own < best ? "You lost" : "A draw";
  return `The game is over. ${outcome}: ${sayGoals(view)}.`;
}

/** @param {import("./types.js").View} view */
function sayGoals(view) {
  return view.roles
    .filter((role) => view.goals?.[role] !== undefined)
    .map((role) => `${role} ${view.goals?.[role]}`)
    .join(", ");
}
