// What holds for the files of the pages without a browser.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const FOLDER = join(import.meta.dirname, "../../assets");
const files = new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), "utf8")]));
const named = (ending) => [...files].filter(([name]) => name.endsWith(ending));

/** Modules that a module imports. */
const imports = (text) => [...text.matchAll(/^(?:import|export)\s[^;]*?from "\.\/([\w.-]+)";/gms)].map((found) => found[1]);

/** A module and everything it imports. */
function reach(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of imports(files.get(name) ?? "")) reach(next, seen);
  return seen;
}

test("scripts never parse text as markup or as code", () => {
  const banned = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\(|new Function/;
  for (const [name, text] of named(".js")) assert.doesNotMatch(text, banned, name);
});

test("pages have no inline scripts, styles or handlers, and load only their own files", () => {
  for (const [name, text] of named(".html")) {
    assert.doesNotMatch(text, /<style|\sstyle=|\son\w+=|javascript:|<script(?![^>]*\ssrc=)/, name);
    for (const [, address] of text.matchAll(/(?:src|href)="([^"]*)"/g)) {
      if (address.startsWith("#") || address === "/") continue;
      assert.ok(files.has(address.slice(1)), `${name}: ${address}`);
    }
  }
});

test("every page preloads the modules that it needs, and no others", () => {
  for (const [name, text] of named(".html")) {
    const main = text.match(/<script type="module" src="\/([\w.-]+)"/)[1];
    const needed = [...reach(main)].filter((module) => module !== main).sort();
    const preloaded = [...text.matchAll(/rel="modulepreload" href="\/([\w.-]+)"/g)].map((found) => found[1]).sort();
    assert.deepEqual(preloaded, needed, name);
  }
});

test("all pages together weigh less than 200 kB, and modules stay small", () => {
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes < 200_000, `${bytes} bytes`);
  for (const [name, text] of named(".js")) assert.ok(text.split("\n").length <= 400, name);
});

test("colours by name are those of the drawings of the program, and have a style", () => {
  const rust = readFileSync(join(FOLDER, "../../draw/src/colours.rs"), "utf8");
  const drawn = [...rust.matchAll(/^ {4}\("(\w+)", "#\w{6}"\),$/gm)].map((found) => found[1]);
  const list = files.get("pieces.js").match(/const COLOURS = \[([^\]]*)\]/)[1];
  const here = [...list.matchAll(/"(\w+)"/g)].map((found) => found[1]);
  assert.ok(drawn.length >= 10);
  assert.deepEqual(here, drawn);
  for (const name of here) assert.match(files.get("style.css"), new RegExp(`\\.colour-${name}\\b`));
});
