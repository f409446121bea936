// Helpers of the browser tests: a server on a free port, a browser, and pages that fail on any console error.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../../..");
export const PROGRAM = process.env.SURMISE ?? join(ROOT, "target/debug/surmise");
const MODULES = process.env.SURMISE_BROWSER_MODULES ?? join(ROOT, "target/browser-tests");
const BROWSER = process.env.SURMISE_CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Longest wait for anything a page should show. */
export const PATIENCE = 15_000;

/** A folder that is removed at the end of the process. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "surmise-browser-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `surmise serve` and waits until it listens. */
export async function serve({ port = 0, data = scratch(), more = [] } = {}) {
  // The pages in the program, or a folder of pages that are being edited.
  const pages = process.env.SURMISE_ASSETS ? ["--assets", process.env.SURMISE_ASSETS] : [];
  const flags = ["serve", "--port", String(port), "--data", data, ...pages, ...more];
  const child = spawn(PROGRAM, flags, { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const base = await address(child);
  const ended = new Promise((done) => child.on("exit", done));
  return {
    base,
    data,
    port: Number(new URL(base).port),
    stop: async () => {
      child.kill("SIGINT");
      const hard = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(hard);
    },
  };
}

/** The address that the server prints. */
function address(child) {
  let text = "";
  return new Promise((done, fail) => {
    const read = (bytes) => {
      text += bytes;
      const found = text.match(/http:\/\/[\w.[\]:]+:\d+/);
      if (found) done(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", fail);
    child.on("exit", (code) => fail(new Error(`the server ended with ${code}: ${text}`)));
  });
}

export async function launch() {
  const { chromium } = createRequire(join(MODULES, "package.json"))("playwright-core");
  return chromium.launch({ executablePath: BROWSER, headless: true, args: FLAGS });
}

/**
 * A page in a browser profile of its own. `check()` fails if the page wrote an error to its console, broke the content
 * security policy, or asked another server for anything. Answers with an error status are part of some tests: `allow`
 * matches their messages.
 */
export async function visitor(browser, base, { allow = null, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("dialog", (dialog) => {
    faults.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !allow?.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (!["blob:", "data:"].includes(to.protocol) && to.origin !== new URL(base).origin)
      faults.push(`asked ${to.origin}`);
    if (request.headers().referer?.includes("token")) faults.push(`token in the referer of ${to.pathname}`);
    if (!to.pathname.startsWith("/api/") && to.search.includes("token")) faults.push(`token in the address ${to}`);
  });
  return {
    page,
    context,
    faults,
    check: () => assert.deepEqual(faults, []),
    close: () => context.close(),
  };
}

export async function post(base, path, body) {
  const answer = await fetch(`${base}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
  });
  const json = await answer.json();
  assert.ok(answer.ok, `${path}: ${JSON.stringify(json)}`);
  return json;
}

/** The status line, once it matches. */
export async function status(page, pattern) {
  await page.waitForFunction(
    ([source, flags]) => new RegExp(source, flags).test(document.getElementById("status")?.textContent ?? ""),
    [pattern.source, pattern.flags],
  );
  return page.textContent("#status");
}

/** The round that is played, from 1, or null when the game is over. */
export async function round(page) {
  const text = await page.textContent("#status");
  const found = text.match(/Round (\d+)/);
  return found ? Number(found[1]) : null;
}

/** Waits for this seat's turn or the end; true if there is a move to make. */
export async function myMove(page) {
  return (await status(page, /Your move|is over|given up/)).includes("Your move");
}

/** Plays the first thing that can be played, by clicking. */
export async function clickAnyMove(page) {
  const before = await page.textContent("#status");
  const cell = page.locator("#board td.playable").first();
  if (await cell.count()) await cell.click();
  else await page.locator("#moves button").first().click();
  await page.waitForFunction((old) => document.getElementById("status").textContent !== old, before);
}

/** Plays on to the end. */
export async function playOut(page, most = 60) {
  for (let i = 0; i < most && (await myMove(page)); i += 1) await clickAnyMove(page);
  await status(page, /is over/);
}

/** Whether a page is wider than its window. */
export const overflows = (page) =>
  page.evaluate(() => document.scrollingElement.scrollWidth > document.documentElement.clientWidth + 1);
