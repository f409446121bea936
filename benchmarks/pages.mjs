// Measures the pages in Chromium on loopback: first paint, time until the board is drawn, and time from a click to the
// next round on the screen, against a player that does not think. Prints medians and worst cases; has no limits.
//
//     SURMISE=target/release/surmise node benchmarks/pages.mjs [REPEATS]
//
// Needs what scripts/browser-tests.sh needs.

import { launch, myMove, post, serve, visitor } from "../crates/web/tests/browser/help.mjs";

const REPEATS = Number(process.argv[2] ?? 20);
const GAMES = [
  ["krieg-tictactoe:size=5,line=4", { xplayer: "human", oplayer: "random" }],
  ["blind-breakthrough", { white: "human", black: "random" }],
];

const server = await serve();
const browser = await launch();
const rows = [];

const { page, close } = await visitor(browser, server.base);
for (const path of ["/", "/new.html?game=krieg-tictactoe", "/results.html"]) {
  const paints = [];
  for (let i = 0; i < REPEATS; i += 1) {
    await page.goto(server.base + path);
    paints.push(await firstPaint(page));
  }
  rows.push([`${path} first paint`, paints]);
}
await close();
for (const [game, seats] of GAMES) await measureTable(game, seats);
for (const [name, values] of rows) console.log(`${name.padEnd(56)} ${summary(values)}`);
await browser.close();
await server.stop();

/** Paint and board of fresh profiles (nothing cached), then moves. */
async function measureTable(game, seats) {
  const paints = [];
  const boards = [];
  const shown = [];
  const painted = [];
  while (paints.length < REPEATS) {
    const made = await post(server.base, "/api/tables", { game, seats });
    const visit = await visitor(browser, server.base);
    const address = new URL(Object.values(made.seats)[0].url, server.base).href;
    await visit.page.addInitScript(noteBoard);
    await visit.page.goto(address);
    await myMove(visit.page);
    paints.push(await firstPaint(visit.page));
    boards.push(await visit.page.evaluate(() => window.boardAt));
    for (let i = 0; i < 3 && (await myMove(visit.page)); i += 1) {
      const move = await visit.page.evaluate(timeMove);
      shown.push(move.shown);
      painted.push(move.painted);
    }
    await visit.close();
  }
  rows.push([`${game} first paint, nothing cached`, paints]);
  rows.push([`${game} board drawn after the request`, boards]);
  rows.push([`${game} click to next round in the page`, shown]);
  rows.push([`${game} click to next round painted`, painted]);
}

/** Runs in the page: notes when the first cell appears. */
function noteBoard() {
  new MutationObserver((_, observer) => {
    if (!document.querySelector("#board td.cell")) return;
    window.boardAt = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
}

/** Runs in the page: plays a move by clicking, and times it until the round is told, and until it is painted. */
async function timeMove() {
  const rounds = () => document.querySelectorAll("#told ol li").length;
  const before = rounds();
  const told = new Promise((done) => {
    new MutationObserver((_, observer) => {
      if (rounds() === before) return;
      observer.disconnect();
      done();
    }).observe(document.getElementById("told"), { childList: true, subtree: true });
  });
  const start = performance.now();
  const cells = document.querySelectorAll("#board td.playable");
  cells[Math.floor(cells.length / 2)].click();
  document.querySelector("#board td.target")?.click();
  await told;
  const shown = performance.now() - start;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return { shown, painted: performance.now() - start };
}

function firstPaint(page) {
  return page.evaluate(
    () =>
      new Promise((done) => {
        const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
        const look = () => (paint() === undefined ? setTimeout(look, 5) : done(paint()));
        look();
      }),
  );
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1).padStart(6);
  return `median ${at(0.5)} ms, 90 % ${at(0.9)} ms, worst ${at(1)} ms (${values.length})`;
}
