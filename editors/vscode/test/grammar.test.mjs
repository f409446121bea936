// The grammars on every game of the catalogue, compared with a tokenizer that knows nothing of TextMate.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { modules, require } from "./modules.mjs";

const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const wasm = fs.readFileSync(path.join(modules, "vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm);
const here = path.dirname(new URL(import.meta.url).pathname);
const files = { "source.gdl": "gdl.tmLanguage.json", "source.gdl.infix": "gdl-infix.tmLanguage.json" };
const registry = new Registry({
    onigLib: Promise.resolve({
        createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
        createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
        const file = path.join(here, "../syntaxes", files[scope]);
        return parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
});
const prefix = await registry.loadGrammar("source.gdl");
const infix = await registry.loadGrammar("source.gdl.infix");

/** The tokens of a text that are not blank: `[text, innermost scope]`. */
function tokens(grammar, text) {
    const found = [];
    let state = INITIAL;
    for (const line of text.split("\n")) {
        const result = grammar.tokenizeLine(line, state);
        state = result.ruleStack;
        for (const token of result.tokens) {
            const part = line.slice(token.startIndex, token.endIndex);
            if (part.trim()) {
                found.push([part.trim(), token.scopes.at(-1)]);
            }
        }
    }
    return found;
}

const scopes = (grammar, text) => tokens(grammar, text).map(([part, scope]) => `${part} ${scope.replace(/\.gdl$/, "")}`);

const KEYWORDS = new Set(
    "role init true legal does next goal sees base input terminal".split(" "),
);
const LOGICAL = new Set(["not", "or", "and", "distinct"]);

/** The scope that each word must have, from the words alone. */
function expected(words, isInfix) {
    return words.map((word, i) => {
        const before = words[i - 1];
        const after = words[i + 1];
        const lower = word.toLowerCase();
        const isHead = isInfix ? after === "(" : before === "(";
        if (word.startsWith(isInfix ? "%" : ";")) return "comment.line";
        if (word === "<=" || word === ":-") return "keyword.operator.rule";
        if (word.startsWith("?")) return "variable.other";
        if (LOGICAL.has(lower) && (isHead || isInfix)) return "keyword.operator.logical";
        if (lower === "terminal" || (KEYWORDS.has(lower) && isHead)) return "keyword.control";
        if (isHead) return "entity.name.function";
        if (lower === "random") return "constant.language";
        if (/^[0-9]+$/.test(word)) return "constant.numeric";
        return "constant.other";
    });
}

const WORD = { prefix: /;.*|[()]|[^\s();]+/g, infix: /%.*|<=|:-|[(),&|~]|\.(?=\s|%|$)|(?:(?!<=|:-|\.(?:\s|%|$))[^\s(),&|~%])+/g };

function compare(name, text, grammar, isInfix) {
    const words = text.split("\n").flatMap((line) => line.match(isInfix ? WORD.infix : WORD.prefix) ?? []);
    const punctuation = new Set(isInfix ? ["(", ")", ",", "&", "|", "~", "."] : ["(", ")"]);
    const scopes = expected(words, isInfix);
    const wanted = words.map((word, i) => [word, scopes[i]]).filter(([word]) => !punctuation.has(word));
    // The sign of a comment or variable is a token of its own, joined with what follows.
    const got = [];
    for (const [part, scope] of tokens(grammar, text)) {
        if (punctuation.has(part) && !scope.includes("definition")) continue;
        const last = got.at(-1);
        if (last?.open) {
            last[0] += part;
            last[1] = scope;
            last.open = false;
        } else {
            const entry = [part, scope];
            entry.open = scope.includes("punctuation.definition");
            got.push(entry);
        }
    }
    assert.equal(got.length, wanted.length, `${name}: number of tokens`);
    let comments = 0;
    wanted.forEach(([word, scope], i) => {
        const [part, found] = got[i];
        if (scope === "comment.line") {
            comments += 1;
            assert.ok(found.includes("comment"), `${name}: ${part} is ${found}`);
        } else {
            assert.equal(part, word, name);
            assert.ok(found.startsWith(scope), `${name}: ${part} is ${found}, not ${scope}`);
        }
    });
    return { words: wanted.length, comments };
}

const surmise = (...args) => execFileSync(process.env.SURMISE, args, { encoding: "utf8", maxBuffer: 1 << 26 });
const folder = path.join(here, "../../../crates/catalogue/games");
const games = fs.readdirSync(folder).filter((file) => file.endsWith(".kif"));

test("every game of the catalogue is coloured in both notations", () => {
    assert.ok(games.length >= 25, `only ${games.length} games`);
    let words = 0;
    for (const file of games) {
        const name = file.replace(/\.kif$/, "");
        for (const notation of ["--prefix", "--infix"]) {
            const text = surmise("fmt", notation, name);
            const isInfix = notation === "--infix";
            words += compare(`${name} ${notation}`, text, isInfix ? infix : prefix, isInfix).words;
        }
    }
    assert.ok(words > 5000, `only ${words} words`);
});

test("details of prefix notation", () => {
    assert.deepEqual(scopes(prefix, "(TERMINAL) (legal random (a<=b ?))"), [
        "( punctuation.section.parens",
        "TERMINAL keyword.control",
        ") punctuation.section.parens",
        "( punctuation.section.parens",
        "legal keyword.control",
        "random constant.language",
        "( punctuation.section.parens",
        "a<=b entity.name.function",
        "? punctuation.definition.variable",
        "))".slice(0, 1) + " punctuation.section.parens",
        ") punctuation.section.parens",
    ]);
    const unfinished = scopes(prefix, "(<= (next (cell ?x");
    assert.ok(unfinished.includes("cell entity.name.function") && unfinished.includes("<= keyword.operator.rule"));
    // A keyword inside a longer name is no keyword.
    assert.ok(scopes(prefix, "(true-ish legal)").includes("true-ish entity.name.function"));
    assert.ok(scopes(prefix, "(f legal)").includes("legal constant.other"));
});

test("details of infix notation", () => {
    const found = scopes(infix, "goal(?r,0.5):-terminal,~open(x)|not a.b(1).% end");
    for (const wanted of [
        "goal keyword.control",
        "0.5 constant.other",
        ":- keyword.operator.rule",
        "terminal keyword.control",
        "~ keyword.operator.logical",
        "| keyword.operator.logical",
        "not keyword.operator.logical",
        "a.b entity.name.function",
        "1 constant.numeric",
        ". punctuation.terminator",
    ]) {
        assert.ok(found.includes(wanted), `${wanted} in ${JSON.stringify(found)}`);
    }
});
