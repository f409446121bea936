// Calls to the server. Every failure is an ApiError with words for the reader and what to do next.

export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {string} [help] */
  constructor(status, code, message, help) {
    super(message);
    this.status = status;
    this.code = code;
    this.help = help ?? "";
  }
}

/** @param {string} path @returns {Promise<any>} */
export const get = (path) => call("GET", path);

/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const post = (path, body) => call("POST", path, body);

/** @param {string} path @returns {Promise<any>} */
export const remove = (path) => call("DELETE", path);

/** @param {string} method @param {string} path @param {unknown} [body] */
async function call(method, path, body) {
  /** @type {RequestInit} */
  const request = { method, cache: "no-store" };
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    request.headers = { "Content-Type": "application/json" };
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new ApiError(0, "no-server", "The server does not answer.", "Start it again with `surmise serve`.");
  }
  if (!answer.ok) throw await failure(answer);
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/** @param {Response} answer */
async function failure(answer) {
  const body = await answer.json().catch(() => null);
  const error = body?.error;
  if (error?.message) return new ApiError(answer.status, error.code ?? "", error.message, error.help);
  return new ApiError(
    answer.status,
    "",
    `The server answered with status ${answer.status}.`,
    "Try again in a moment.",
  );
}

/** A query string without empty values. @param {Record<string, string|number|null|undefined>} values */
export function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}` : "";
}

/**
 * Listens to server-sent events and connects again when the server was away. `onState` hears whether the stream is
 * open. Returns a function that ends it.
 *
 * @param {string} path
 * @param {(data: any) => void} onData
 * @param {(open: boolean) => void} [onState]
 */
export function listen(path, onData, onState = () => {}) {
  let source = /** @type {EventSource|null} */ (null);
  let ended = false;
  let wait = 500;
  let timer = 0;
  const connect = () => {
    source = new EventSource(path);
    source.onopen = () => {
      wait = 500;
      onState(true);
    };
    source.onmessage = (event) => onData(JSON.parse(event.data));
    source.onerror = () => {
      source?.close();
      if (ended) return;
      onState(false);
      timer = window.setTimeout(connect, wait);
      wait = Math.min(wait * 2, 15_000);
    };
  };
  connect();
  return () => {
    ended = true;
    clearTimeout(timer);
    source?.close();
  };
}
