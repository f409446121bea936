// Several people, watchers, restarts of the server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clickAnyMove, launch, myMove, playOut, post, round, serve, status, visitor } from "./help.mjs";

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve(), launch()]);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

test("two people play in two browsers, and each is shown only its own marks", async () => {
  const x = await visitor(browser, server.base);
  const o = await visitor(browser, server.base);
  await x.page.goto(`${server.base}/new.html?game=krieg-tictactoe:size=3,line=3`);
  await x.page.selectOption("#seat-xplayer", "me");
  await x.page.selectOption("#seat-oplayer", "person");
  await x.page.click("#play");
  const link = await x.page.inputValue(".invite input");
  await o.page.goto(link);
  assert.match(await o.page.textContent(".seat.own"), /oplayer/);
  await x.page.locator("#board td.playable").first().click();
  await status(x.page, /Waiting for the others/);
  await o.page.locator("#board td.playable").last().click();
  await Promise.all([status(x.page, /Round 2\. Your move/), status(o.page, /Round 2\. Your move/)]);
  const marks = (page) =>
    page.locator("#board .board:first-child .piece").evaluateAll((all) => all.map((piece) => piece.title));
  assert.ok(
    (await marks(x.page)).every((title) => title.includes("xplayer")),
    "x sees its own marks only",
  );
  assert.ok(
    (await marks(o.page)).every((title) => title.includes("oplayer")),
    "o sees its own marks only",
  );
  assert.match(await o.page.textContent("#told"), /told placed (xplayer, placed oplayer|oplayer, placed xplayer)/);
  for (let i = 0; i < 12; i += 1) {
    const [a, b] = [await myMove(x.page), await myMove(o.page)];
    if (!a && !b) break;
    const now = await round(x.page);
    await clickAnyMove(x.page);
    await clickAnyMove(o.page);
    await Promise.all(
      [x.page, o.page].map((page) =>
        page.waitForFunction((old) => !document.getElementById("status").textContent.includes(`Round ${old}.`), now),
      ),
    );
  }
  await Promise.all([status(x.page, /is over/), status(o.page, /is over/)]);
  x.check();
  o.check();
  await x.close();
  await o.close();
});

test("taking back what revealed something needs the other person", async () => {
  const made = await post(server.base, "/api/tables", {
    game: "krieg-tictactoe:size=3,line=3",
    seats: { xplayer: "human", oplayer: "human" },
  });
  const x = await visitor(browser, server.base);
  const o = await visitor(browser, server.base);
  await x.page.goto(new URL(made.seats.xplayer.url, server.base).href);
  await o.page.goto(new URL(made.seats.oplayer.url, server.base).href);
  await x.page.locator("#board td.playable").first().click();
  await o.page.locator("#board td.playable").last().click();
  await Promise.all([status(x.page, /Round 2/), status(o.page, /Round 2/)]);
  await x.page.locator("#undo", { hasText: "Ask to take back" }).click();
  await x.page.waitForSelector("text=Waiting for the others to agree");
  await o.page.locator("#undo", { hasText: "Agree to take back" }).click();
  await Promise.all([status(x.page, /Round 1/), status(o.page, /Round 1/)]);
  x.check();
  o.check();
  await x.close();
  await o.close();
});

test("two players are watched, stopped, stepped and let go on", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/new.html?game=krieg-tictactoe:size=5,line=5`);
  await page.click("#watch");
  for (const role of ["xplayer", "oplayer"]) await page.selectOption(`#seat-${role}`, "player random");
  await page.selectOption("#delay", "500");
  await page.click("#play");
  await page.waitForSelector("#stop");
  await page.click("#stop");
  await status(page, /Stopped/);
  const stopped = await round(page);
  await page.waitForTimeout(900);
  assert.equal(await round(page), stopped);
  await page.click("#step");
  await status(page, new RegExp(`Round ${stopped + 1}\\. Stopped`));
  assert.ok((await page.locator("#board .piece").count()) >= 1, "the watcher sees marks");
  await page.selectOption("#delay", "0");
  await page.click("#go");
  await status(page, /is over/);
  check();
  await close();
});

test("a watcher of a table with a person sees the board only at the end", async () => {
  const made = await post(server.base, "/api/tables", {
    game: "krieg-tictactoe:size=3,line=3",
    seats: { xplayer: "human", oplayer: "random" },
  });
  const me = await visitor(browser, server.base);
  const watcher = await visitor(browser, server.base);
  await me.page.goto(new URL(made.seats.xplayer.url, server.base).href);
  await watcher.page.goto(new URL(made.watch, server.base).href);
  await status(watcher.page, /watcher sees the board when the game is over/);
  assert.equal(await watcher.page.locator("#board .piece").count(), 0);
  await playOut(me.page);
  await status(watcher.page, /is over/);
  await watcher.page.waitForSelector("#board .piece");
  me.check();
  watcher.check();
  await me.close();
  await watcher.close();
});

test("a page goes on after the server was restarted", async () => {
  const first = await serve();
  const made = await post(first.base, "/api/tables", {
    game: "krieg-tictactoe:size=3,line=3",
    seats: { xplayer: "human", oplayer: "random" },
  });
  const { page, faults, close } = await visitor(browser, first.base, { allow: /ERR_|Failed to load/ });
  await page.goto(new URL(made.seats.xplayer.url, first.base).href);
  await clickAnyMove(page);
  await myMove(page);
  const before = await round(page);
  await first.stop();
  await page.waitForSelector("#offline:not([hidden])");
  const second = await serve({ port: first.port, data: first.data });
  await page.waitForSelector("#offline", { state: "hidden" });
  assert.equal(await round(page), before);
  await clickAnyMove(page);
  await myMove(page);
  assert.deepEqual(faults, []);
  await close();
  await second.stop();
});
