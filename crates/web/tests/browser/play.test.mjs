// One person at the table: clicking, keys, phone, belief, undo, hint, replay.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clickAnyMove, launch, myMove, overflows, playOut, post, round, serve, status, visitor } from "./help.mjs";

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve(), launch()]);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a table with a person in one seat, and a page at it. */
async function sit(game, seats, options = {}) {
  const { more = {}, ...rest } = options;
  const made = await post(server.base, "/api/tables", { game, seats, seed: 7, ...more });
  const who = await visitor(browser, server.base, rest);
  const role = Object.keys(made.seats)[0];
  await who.page.goto(new URL(made.seats[role].url, server.base).href);
  await myMove(who.page);
  return { ...who, made };
}

const KRIEG = "krieg-tictactoe:size=3,line=3";
const AGAINST_HP = { xplayer: "human", oplayer: "hp:4,2" };

test("krieg-tictactoe is played by clicking against hp to the end", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/new.html?game=${KRIEG}`);
  await page.selectOption("#seat-xplayer", "me");
  await page.selectOption("#seat-oplayer", "player hp");
  await page.click(".seat-row:nth-of-type(2) summary");
  await page.fill(".seat-row:nth-of-type(2) [data-option=models]", "4");
  await page.fill(".seat-row:nth-of-type(2) [data-option=playouts]", "2");
  await page.click("#play");
  await page.waitForSelector("#board td.playable");
  assert.equal(await page.locator("#board td.playable").count(), 9);
  assert.match(await page.textContent("#seats"), /oplayer\s+hp:/);
  await clickAnyMove(page);
  await myMove(page);
  assert.equal(await page.locator("#told ol li").count(), 1);
  assert.match(await page.textContent("#told ol li"), /you mark \d \d.*told/);
  await playOut(page);
  assert.match(await page.textContent("#result"), /Result.*Points/);
  const points = await page.locator("#result td.amount").allTextContents();
  assert.equal(points.length, 2);
  check();
  await close();
});

test("a game is started and played with the keyboard only", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/`);
  await page.waitForSelector("[data-play]");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  for (let i = 0; i < 12; i += 1) {
    if (await page.evaluate(() => document.activeElement.matches("[data-play]"))) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForSelector("#board td.playable");
  for (let i = 0; i < 15; i += 1) {
    if (await page.evaluate(() => document.activeElement.matches("td.playable"))) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(label, /^row 3, column 2: empty/);
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(ring, "none");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#told ol li");
  assert.match(await page.textContent("#told ol li"), /mark 2 3/);
  await myMove(page);
  // The keyboard stays where it was.
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("data-row")), "1");
  assert.match(await page.textContent("#live"), /You played mark 2 3\. You were told/);
  assert.ok((await page.getByRole("grid").count()) >= 1);
  check();
  await close();
});

test("from-to moves take two steps, and targets are marked", async () => {
  const { page, check, close } = await sit("breakthrough", { white: "human", black: "random" });
  assert.ok((await page.locator("#board td.playable").count()) > 0);
  await page.locator("#board td.playable").first().click();
  assert.equal(await page.locator("#board td.selected").count(), 1);
  assert.ok((await page.locator("#board td.target").count()) > 0);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#board td.selected").count(), 0);
  await page.locator("#board td.playable").first().click();
  await page.locator("#board td.target").first().click();
  await page.waitForSelector("#told ol li");
  check();
  await close();
});

test("the belief view of Monty Hall says two thirds", async () => {
  const { page, check, close } = await sit("monty-hall", { candidate: "human" });
  await clickAnyMove(page);
  await myMove(page);
  await page.click("#toggle-know");
  await page.waitForSelector("#know:not([hidden])");
  assert.match(await page.textContent("#known"), /2 states and \d+ histor/);
  assert.match(await page.textContent("#known"), /exact/);
  await page.click("#toggle-numbers");
  const board = await page.textContent("#board");
  assert.match(board, /67/);
  assert.match(board, /33/);
  assert.match(await page.textContent(".pager"), /1 of 2.*67 %/);
  await page.click("[data-turn='1']");
  assert.match(await page.textContent(".pager"), /2 of 2.*33 %/);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.turn), "-1");
  check();
  await close();
});

test("the belief view shades a board, and shows information and its course", async () => {
  const { page, check, close } = await sit("krieg-tictactoe:size=4,line=3", { xplayer: "human", oplayer: "random" });
  for (let i = 0; i < 2; i += 1) {
    await clickAnyMove(page);
    await myMove(page);
  }
  await page.click("#toggle-know");
  await page.waitForSelector("#board td.shaded");
  assert.ok((await page.locator("#chart svg circle").count()) >= 3);
  await page.click("#toggle-bits");
  assert.ok((await page.locator("#board .bits").count()) > 0);
  const shaded = page.locator("#board td.shaded").first();
  assert.match(await shaded.getAttribute("aria-label"), /\d %/);
  check();
  await close();
});

test("moves of an open game are taken back", async () => {
  const { page, check, close } = await sit("tictactoe", { xplayer: "human", oplayer: "random" });
  assert.equal(await page.locator("#undo").isDisabled(), true);
  await clickAnyMove(page);
  await myMove(page);
  const now = await round(page);
  await page.click("#undo");
  await page.waitForFunction((old) => !document.getElementById("status").textContent.includes(`Round ${old}`), now);
  await myMove(page);
  assert.ok((await round(page)) < now);
  check();
  await close();
});

test("a hint names a legal move, and why looks back", async () => {
  const { page, check, close } = await sit(KRIEG, AGAINST_HP);
  await page.click("#hint");
  await page.waitForSelector("#advice:not([hidden])");
  assert.match(await page.textContent("#advice"), /Hint: mark \d \d/);
  assert.ok((await page.locator("#board td.hinted").count()) >= 1);
  await page.locator("#board td.hinted").first().click();
  await page.waitForSelector("#told ol li");
  await myMove(page);
  await page.click("#told ol li button");
  await page.waitForSelector("#advice:not([hidden])");
  assert.match(await page.textContent("#advice"), /Round 1/);
  check();
  await close();
});

test("a finished game is scrubbed from every seat, and its address names the position", async () => {
  const { page, context, check, close } = await sit(KRIEG, { xplayer: "human", oplayer: "random" });
  await playOut(page);
  await page.waitForSelector("#round");
  const rounds = Number(await page.getAttribute("#round", "max"));
  assert.ok(rounds >= 3);
  const pieces = () => page.locator("#board .piece").count();
  await page.click("#first");
  await page.waitForFunction(() => document.querySelectorAll("#board .piece").length === 0);
  await page.click("#last");
  await page.waitForFunction(() => document.querySelectorAll("#board .piece").length >= 3);
  const all = await pieces();
  await page.selectOption("#perspective", "oplayer");
  await page.waitForFunction((n) => document.querySelectorAll("#board .piece").length < n, all);
  await page.click("#back");
  await page.waitForFunction((k) => location.hash.includes(`round=${k}`), rounds - 1);
  assert.match(page.url(), /role=oplayer/);
  await page.click("#toggle-know");
  await page.waitForSelector(".side-by-side");
  assert.match(await page.textContent(".side-by-side"), /What oplayer could believe.*What was true/s);
  const download = page.waitForEvent("download");
  await page.click("#record");
  assert.match((await download).suggestedFilename(), /\.json$/);
  const again = await context.newPage();
  await again.goto(page.url());
  await again.waitForSelector("#perspective");
  assert.equal(await again.inputValue("#perspective"), "oplayer");
  assert.equal(await again.inputValue("#round"), String(rounds - 1));
  check();
  await close();
});

test("a rematch changes the seats", async () => {
  const { page, check, close } = await sit(KRIEG, { xplayer: "human", oplayer: "random" });
  await playOut(page);
  await page.click("#rematch");
  await page.waitForFunction(() => document.querySelector(".seat.own .name")?.textContent.trim() === "oplayer");
  await myMove(page);
  check();
  await close();
});

test("a phone 360 pixels wide shows every page without scrolling sideways", async () => {
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const { page, check, close } = await sit(
    "krieg-tictactoe:size=6,line=4",
    { xplayer: "human", oplayer: "random" },
    phone,
  );
  assert.equal(await overflows(page), false, "table");
  await page.locator("#board td.playable").last().tap();
  await page.waitForSelector("#told ol li");
  await myMove(page);
  await page.click("#toggle-know");
  await page.waitForSelector("#know:not([hidden])");
  assert.equal(await overflows(page), false, "belief view");
  for (const path of ["/", "/new.html?game=krieg-tictactoe", "/results.html", "/solve.html", "/train.html"]) {
    await page.goto(server.base + path);
    await page.waitForTimeout(150);
    assert.equal(await overflows(page), false, path);
  }
  check();
  await close();
});

test("a clock is counted down", async () => {
  const { page, check, close } = await sit(KRIEG, AGAINST_HP, { more: { clock: 60 } });
  await page.waitForSelector("#clock:not([hidden])");
  assert.match(await page.textContent("#clock"), /^(1:00|0:5\d)$/);
  check();
  await close();
});

test("an address without a good token is refused in words", async () => {
  const made = await post(server.base, "/api/tables", { game: KRIEG, seats: AGAINST_HP });
  const { page, check, close } = await visitor(browser, server.base, { allow: /status of 4\d\d/ });
  await page.goto(`${server.base}/table.html#id=${made.id}&token=wrong`);
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /[Tt]oken|link/);
  await status(page, /cannot be shown/);
  check();
  await close();
});
