// What every page has: messages, the fragment of the address, and what this tab remembers.

import { byId, el, sentence, show } from "./dom.js";
import { ApiError } from "./api.js";

/** The values after # in the address. Tokens are only there: browsers never send this part. */
export function fragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Replaces values after # without a new entry in the history. @param {Record<string, string|number|null>} values */
export function setFragment(values) {
  history.replaceState(null, "", `#${fragmentWith(values)}`);
}

/** The fragment with some values changed; null removes a value. @param {Record<string, string|number|null>} values */
export function fragmentWith(values) {
  const all = fragment();
  for (const [name, value] of Object.entries(values)) {
    if (value === null) all.delete(name);
    else all.set(name, String(value));
  }
  return all.toString();
}

/** Shows an error in words with what to do, and moves no focus. @param {unknown} error */
export function showError(error) {
  const box = byId("error");
  const message = error instanceof Error ? error.message : String(error);
  const help = error instanceof ApiError ? error.help : "";
  show(
    box,
    el("p", {}, el("strong", {}, sentence(message)), help && ` ${sentence(help)}`),
    el("button", { type: "button", class: "quiet", onclick: clearError, "aria-label": "Close this message" }, "✕"),
  );
  box.hidden = false;
}

export function clearError() {
  byId("error").hidden = true;
}

/** Runs an action and shows its error, if any. @template T @param {() => Promise<T>|T} action */
export async function attempt(action) {
  try {
    clearError();
    return await action();
  } catch (error) {
    showError(error);
    return undefined;
  }
}

/**
 * Does work when the page as it was sent has been painted, or a little later in a tab that is not painted.
 *
 * @param {() => void} work
 */
export function afterPaint(work) {
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    work();
  };
  requestAnimationFrame(() => setTimeout(begin, 0));
  setTimeout(begin, 100);
}

/** Keeps a value for this tab. @param {string} key @param {unknown} value */
export function remember(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage may be switched off or full; the page works without.
  }
}

/** @param {string} key @returns {any} */
export function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Copies text, and says so on the button. @param {HTMLButtonElement} button @param {string} text */
export async function copyFrom(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

/** Whether the system asks for less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
