// Experiments and training runs that go on while their pages are open.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PROGRAM, launch, scratch, serve, visitor } from "./help.mjs";

const lab = scratch();
let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ more: ["--lab", lab] }), launch()]);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const SPEC = `name = "live"
title = "An experiment that goes on"
[[sweep]]
game = "tictactoe"
players = ["hp:400,400", "random"]
games = 2000
`;

test("the page of results shows how far a running experiment is", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/results.html`);
  await page.waitForSelector("#lab .nothing");
  const spec = join(scratch(), "live.toml");
  writeFileSync(spec, SPEC);
  const run = spawn(PROGRAM, ["lab", "run", spec, "--out", join(lab, "live"), "--threads", "1", "--quiet"], {
    stdio: "ignore",
  });
  const ended = new Promise((done) => run.on("exit", done));
  try {
    const running = /(\d+) of 2000 matches, running/;
    const done = async () => Number((await page.textContent("#lab")).match(running)?.[1] ?? -1);
    await page.waitForFunction(
      (text) => new RegExp(text).test(document.getElementById("lab").textContent),
      running.source,
    );
    const first = await done();
    await page.waitForFunction(
      ([text, old]) => Number(document.getElementById("lab").textContent.match(new RegExp(text))?.[1] ?? -1) > old,
      [running.source, first],
    );
    assert.ok((await done()) > first);
    assert.match(await page.textContent("#lab"), /An experiment that goes on/);
  } finally {
    run.kill("SIGINT");
    await ended;
  }
  // The run was stopped: the page says how far it came, and has its report.
  await page.waitForFunction(() => !document.getElementById("lab").textContent.includes("running"));
  await page.waitForSelector('#lab a[href="/lab/live/report.html"]');
  check();
  await close();
});

test("a training run shows its curves while it goes on, and is stopped", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/results.html`);
  await page.fill("#job-game", "kuhn-poker");
  await page.fill("#minutes", "5");
  await page.click("#train");
  await page.waitForURL(/\/train/, { waitUntil: "commit" });
  await page.waitForFunction(() => /^Running\. \d+ games/.test(document.getElementById("state").textContent));
  await page.waitForSelector("#curve svg");
  const games = () => page.evaluate(() => Number(document.getElementById("state").textContent.match(/(\d+) games/)[1]));
  const before = await games();
  await page.waitForFunction(
    (old) => Number(document.getElementById("state").textContent.match(/(\d+) games/)?.[1]) > old,
    before,
  );
  await page.click("#stop-job");
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("Stopped"));
  assert.match(await page.textContent("#figures"), /loss of values/);
  check();
  await close();
});
