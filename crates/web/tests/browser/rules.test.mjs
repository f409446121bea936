// Pasted rules, text that looks like markup, uploads, results, and the weight of pages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, playOut, post, serve, status, visitor } from "./help.mjs";

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve(), launch()]);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const GOOD = `(role robot) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal robot go) (true (step ?n)))
(<= (legal robot wait) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (step ?n)))
`;
const BAD = `${GOOD}(<= (legal robot ?x) (not (succ ?x 1)))\n`;

test("pasted rules are checked as they are typed, and played when they are right", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/`);
  await page.fill("#rules", BAD);
  await page.waitForSelector("#findings li.error-line");
  assert.match(await page.textContent("#findings"), /line 7.*E-UNSAFE/s);
  assert.equal(await page.textContent(".lines .error-line"), "7");
  assert.equal(await page.locator("#play-rules").isDisabled(), true);
  await page.click("#findings button");
  const selected = await page.evaluate(() => {
    const text = document.getElementById("rules");
    return text.value.slice(text.selectionStart, text.selectionEnd);
  });
  assert.match(selected, /succ \?x 1/);
  await page.fill("#rules", GOOD);
  await page.waitForFunction(() => !document.getElementById("play-rules").disabled);
  assert.equal(await page.locator("#findings li.error-line").count(), 0);
  await page.click("#play-rules");
  await page.waitForSelector("#seat-robot");
  await page.click("#play");
  await page.locator("#moves button", { hasText: "go" }).click();
  await page.waitForSelector("#told ol li");
  await playOut(page);
  check();
  await close();
});

test("names that look like markup stay text", async () => {
  const evil = "<img/src=x/onerror=alert(1)>".replace(/[()]/g, "");
  const script = "<script>document.title=1</script>";
  const rules = `; ${script}
(role ${evil}) (role b&lt)
(init (cell 1 1 ${evil})) (init (cell 1 2 empty)) (init (cell 2 1 empty)) (init (cell 2 2 ><svg/onload=x>))
(init (note ${script})) (init (step 1)) (succ 1 2) (succ 2 3)
(<= (legal ?r (take<b> ?y ${evil})) (role ?r) (succ ?y ?z))
(<= (sees ?r (heard ${evil})) (role ?r))
(<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)))
(<= (next (note ?n)) (true (note ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal ?r 50) (role ?r))
`;
  const { page, check, close } = await visitor(browser, server.base);
  const made = await post(server.base, "/api/tables", { rules, seats: { [evil]: "human", "b&lt": "random" } });
  await page.goto(`${server.base}/`);
  await page.fill("#rules", `${rules}(<= (legal ${evil} ?x) (not (succ ?x 1)))`);
  await page.waitForSelector("#findings li");
  await page.goto(new URL(Object.values(made.seats)[0].url, server.base).href);
  await page.waitForSelector("#told");
  assert.ok((await page.textContent("#seats")).includes(evil));
  await page.click("#toggle-know");
  await page.waitForSelector("#know:not([hidden])");
  await playOut(page);
  const injected = await page.evaluate(
    () => document.querySelectorAll("main img, main script, main i > i, main svg[onload]").length,
  );
  assert.equal(injected, 0);
  assert.match(await page.title(), /<script>|Pasted|Surmise/);
  check();
  await close();
});

test("a record is uploaded and looked at", async () => {
  const made = await post(server.base, "/api/tables", {
    game: "krieg-tictactoe:size=3,line=3",
    seats: { xplayer: "random", oplayer: "random" },
    delay: 0,
  });
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(new URL(made.watch, server.base).href);
  await status(page, /is over/);
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("#record")]);
  await page.goto(`${server.base}/`);
  await page.setInputFiles("#record", await file.path());
  await page.waitForURL(/\/table/, { waitUntil: "commit" });
  await page.waitForSelector("#round");
  await page.click("#first");
  await page.waitForFunction(() => document.querySelectorAll("#board .piece").length === 0);
  check();
  await close();
});

test("games are found by words and tags, and a parameter changes the board", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/`);
  await page.waitForSelector(".game");
  const all = await page.locator(".game").count();
  assert.ok(all >= 20);
  await page.fill("#search", "poker");
  assert.ok((await page.locator(".game").count()) < all);
  assert.match(await page.textContent("#games"), /Kuhn/);
  await page.goto(`${server.base}/new.html?game=krieg-tictactoe`);
  await page.waitForSelector("#game td.cell");
  assert.equal((await page.locator("#game td.cell").count()) % 25, 0);
  await page.fill("[data-parameter=size]", "4");
  await page.locator("[data-parameter=size]").blur();
  await page.waitForFunction(() => document.querySelectorAll("#game td.cell").length % 16 === 0);
  check();
  await close();
});

test("Kuhn poker is solved, with its value, strategy and tree", async () => {
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(`${server.base}/results.html`);
  await page.fill("#job-game", "kuhn-poker");
  await page.click("#solve");
  await page.waitForURL(/\/solve/, { waitUntil: "commit" });
  await page.waitForSelector("#figures .figure-box");
  assert.match(await page.textContent("#figures"), /Value for.*NashConv/s);
  assert.ok((await page.locator("#strategy tbody tr").count()) >= 6);
  await page.waitForSelector("#tree svg");
  assert.ok((await page.locator("#tree path.set").count()) > 0);
  check();
  await close();
});

test("a page weighs less than 200 kB", async () => {
  const made = await post(server.base, "/api/tables", {
    game: "krieg-tictactoe:size=5,line=4",
    seats: { xplayer: "human", oplayer: "random" },
  });
  const { page, check, close } = await visitor(browser, server.base);
  await page.goto(new URL(made.seats.xplayer.url, server.base).href);
  await page.waitForSelector("#board td.playable");
  const bytes = await page.evaluate(() =>
    [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .filter((entry) => !entry.name.includes("/api/"))
      .reduce((sum, entry) => sum + entry.decodedBodySize, 0),
  );
  assert.ok(bytes > 10_000 && bytes < 200_000, `${bytes} bytes`);
  check();
  await close();
});
