// What the solver page and the training page share: following a job, its state in words, stopping it.

import { byId, el, show } from "./dom.js";
import { get, listen, query, remove } from "./api.js";
import { attempt, fragment } from "./page.js";

/**
 * @typedef {{id: string, kind: string, game: string, state: string, note?: string, player?: string,
 *            curve?: import("./types.js").Point[],
 *            curves?: Record<string, import("./types.js").Point[]>, result?: any, options?: Record<string, any>}} Job
 */

/** Follows the job that the address names, and draws it whenever it changes. @param {(job: Job) => void} draw */
export async function follow(draw) {
  const id = fragment().get("id");
  window.addEventListener("hashchange", () => location.reload());
  if (!id) {
    byId("state").textContent = "No run is chosen. Start one on the page Results.";
    return;
  }
  const address = `/api/jobs/${encodeURIComponent(id)}`;
  const first = await attempt(() => get(address));
  if (!first) return;
  const receive = (/** @type {Job} */ job) => {
    drawState(job, address);
    draw(job);
    if (job.state !== "running") end();
  };
  let end = () => {};
  receive(first);
  if (first.state === "running") end = listen(`${address}/events`, receive);
}

/** @param {Job} job @param {string} address */
function drawState(job, address) {
  const words = { running: "Running", done: "Done", stopped: "Stopped", failed: "Failed" };
  const state = words[/** @type {"running"} */ (job.state)] ?? job.state;
  byId("state").textContent = job.note ? `${state}. ${job.note}` : `${state}.`;
  show(
    byId("controls"),
    job.state === "running" &&
      el("button", { type: "button", id: "stop-job", onclick: () => attempt(() => remove(address)) }, "Stop"),
    el(
      "a",
      { class: "button", href: `/new.html${query({ game: job.game, against: job.player })}` },
      job.player ? "Play against it" : "Play this game",
    ),
  );
}

/** A number with its name, large. @param {string} name @param {string} value @param {string} [note] */
export function figureBox(name, value, note) {
  return el(
    "div",
    { class: "figure-box panel" },
    el("small", {}, name),
    el("b", {}, value),
    note && el("small", {}, note),
  );
}
