// An editor for rules: line numbers with marks, findings in words, checked a moment after the last key.

import { count, el, show } from "./dom.js";
import { post } from "./api.js";
import { recall, remember, showError } from "./page.js";

const QUIET_MS = 250;

const EXAMPLE = `; A coin is tossed in secret: which side is up?
(role guesser) (role random)
(side heads) (side tails)
(init (phase toss))
(<= (legal random (toss ?s)) (true (phase toss)) (side ?s))
(<= (legal random noop) (true (phase guess)))
(<= (legal guesser noop) (true (phase toss)))
(<= (legal guesser (guess ?s)) (true (phase guess)) (side ?s))
(<= (next (phase guess)) (true (phase toss)))
(<= (next (phase over)) (true (phase guess)))
(<= (next (coin ?s)) (does random (toss ?s)))
(<= (next (coin ?s)) (true (coin ?s)))
(<= (next (guessed ?s)) (does guesser (guess ?s)))
(<= terminal (true (phase over)))
(<= right (true (coin ?s)) (true (guessed ?s)))
(<= (goal guesser 100) right)
(<= (goal guesser 0) (not right))
(goal random 0)
`;

/** @typedef {import("./types.js").Finding} Finding */

/** @param {{onPlay: (rules: string) => void}} options */
export function makeEditor(options) {
  const lines = el("div", { class: "lines", "aria-hidden": "true" });
  const text = el("textarea", {
    id: "rules",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    rows: 12,
    "aria-label": "Rules in GDL-II",
    "aria-describedby": "verdict",
    placeholder: "(role me) …",
  });
  const verdict = el("p", { id: "verdict", class: "verdict", role: "status" });
  const list = el("ul", { class: "findings", id: "findings" });
  const play = el(
    "button",
    { type: "button", class: "strong", id: "play-rules", disabled: true, onclick: () => options.onPlay(text.value) },
    "Choose seats and play",
  );
  const example = el("button", { type: "button", onclick: () => fill(EXAMPLE) }, "Fill in an example");
  text.value = recall("rules") ?? "";

  let timer = 0;
  let number = 0;
  /** @param {string} rules */
  const fill = (rules) => {
    text.value = rules;
    edited();
  };
  const edited = () => {
    drawLines(lines, text.value, []);
    lines.scrollTop = text.scrollTop;
    play.disabled = true;
    clearTimeout(timer);
    timer = window.setTimeout(check, QUIET_MS);
  };
  const check = async () => {
    const rules = text.value;
    const mine = ++number;
    if (!rules.trim()) {
      show(list);
      verdict.textContent = "";
      return;
    }
    try {
      const answer = await post("/api/check", { rules });
      if (mine !== number || rules !== text.value) return;
      remember("rules", rules);
      drawLines(lines, rules, answer.findings);
      lines.scrollTop = text.scrollTop;
      show(list, ...answer.findings.map((/** @type {Finding} */ finding) => drawFinding(finding, text)));
      verdict.textContent = sayVerdict(answer);
      play.disabled = !answer.playable;
    } catch (error) {
      showError(error);
    }
  };
  text.addEventListener("input", edited);
  text.addEventListener("scroll", () => (lines.scrollTop = text.scrollTop));
  edited();
  return el(
    "div",
    { class: "section-inner form" },
    el("div", { class: "editor" }, lines, text),
    verdict,
    list,
    el("div", { class: "row" }, play, example),
  );
}

/** @param {{findings: Finding[], playable: boolean, roles?: string[]}} answer */
function sayVerdict(answer) {
  const errors = answer.findings.filter(isError).length;
  const others = answer.findings.length - errors;
  const also = others ? ` ${count(others, "remark")}.` : "";
  if (answer.playable) return `No errors.${also} Roles: ${(answer.roles ?? []).join(", ")}.`;
  return `${count(errors, "error")}.${also} Nothing can be played until the errors are gone.`;
}

/** @param {Finding} finding */
const isError = (finding) => finding.severity === "error";

/** @param {HTMLElement} lines @param {string} rules @param {Finding[]} findings */
function drawLines(lines, rules, findings) {
  const total = Math.min(rules.split("\n").length, 5000);
  /** @type {Map<number, string>} */
  const marks = new Map();
  for (const finding of findings) {
    if (isError(finding) || !marks.has(finding.line))
      marks.set(finding.line, isError(finding) ? "error-line" : "warning-line");
  }
  show(lines, ...Array.from({ length: total }, (_, i) => el("span", { class: marks.get(i + 1) ?? "" }, i + 1)));
}

/** @param {Finding} finding @param {HTMLTextAreaElement} text */
function drawFinding(finding, text) {
  return el(
    "li",
    { class: isError(finding) ? "error-line" : "warning-line" },
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        onclick: () => select(text, finding),
        "aria-label": `Go to line ${finding.line}, column ${finding.column}`,
      },
      `line ${finding.line}`,
    ),
    el("strong", {}, finding.message),
    " ",
    el("code", {}, finding.code),
    finding.help && el("div", { class: "note" }, finding.help),
  );
}

/** Puts the cursor on what a finding is about. @param {HTMLTextAreaElement} text @param {Finding} finding */
function select(text, finding) {
  const from = offset(text.value, finding.line, finding.column);
  const to = finding.end_line ? offset(text.value, finding.end_line, finding.end_column ?? 1) : from + 1;
  text.focus();
  text.setSelectionRange(from, Math.max(to, from + 1));
  const height = text.scrollHeight / Math.max(text.value.split("\n").length, 1);
  text.scrollTop = Math.max(0, (finding.line - 4) * height);
}

/** @param {string} text @param {number} line @param {number} column */
function offset(text, line, column) {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, row) => sum + row.length + 1, 0) + column - 1;
}
