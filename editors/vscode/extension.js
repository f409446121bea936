// The client: starts `surmise lsp` and offers its commands.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const LANGUAGES = ["gdl", "gdl-infix"];
let client;

function settings() {
    const all = vscode.workspace.getConfiguration("surmise");
    const names = [
        "strict",
        "caseSensitive",
        "upperVars",
        "gdl3",
        "stanford",
        "games",
        "seconds",
        "delayMs",
        "inlayHints",
    ];
    return Object.fromEntries(names.map((name) => [name, all.get(name)]));
}

function makeClient() {
    const command = vscode.workspace.getConfiguration("surmise").get("path") || "surmise";
    const server = { command, args: ["lsp"], transport: TransportKind.stdio };
    return new LanguageClient("surmise", "GDL (Surmise)", server, {
        documentSelector: LANGUAGES.flatMap((language) => [
            { language, scheme: "file" },
            { language, scheme: "untitled" },
        ]),
        initializationOptions: settings(),
    });
}

async function start() {
    client = makeClient();
    try {
        await client.start();
    } catch (error) {
        vscode.window.showErrorMessage(
            `Cannot start the language server: ${error.message}. Install Surmise, or set surmise.path.`,
        );
    }
}

async function stop() {
    const old = client;
    client = undefined;
    // A server that never started has nothing to stop.
    await old?.stop().catch(() => {});
}

/** Asks for an atom and, if the user likes, a record; shows why the atom holds or not. */
async function askWhy() {
    const editor = vscode.window.activeTextEditor;
    if (!client || !editor || !LANGUAGES.includes(editor.document.languageId)) {
        return;
    }
    const selected = editor.document.getText(editor.selection).trim();
    const term = await vscode.window.showInputBox({
        prompt: "An atom without variables, such as (legal xplayer (mark 1 1))",
        value: selected,
    });
    if (!term) {
        return;
    }
    const question = { uri: editor.document.uri.toString(), term };
    const state = await vscode.window.showQuickPick(["the initial state", "a state of a recorded match…"], {
        placeHolder: "In which state?",
    });
    if (!state) {
        return;
    }
    if (state.startsWith("a state")) {
        const picked = await vscode.window.showOpenDialog({ filters: { Records: ["json"] }, openLabel: "Replay" });
        if (!picked?.length) {
            return;
        }
        question.recordPath = picked[0].fsPath;
        const round = await vscode.window.showInputBox({ prompt: "Before which round? (empty: after the last)" });
        if (round === undefined) {
            return;
        }
        if (round.trim()) {
            question.round = Number(round);
        }
    }
    try {
        const answer = await client.sendRequest("workspace/executeCommand", {
            command: "surmise.why",
            arguments: [question],
        });
        await show(`${answer.text}\nState before round ${answer.round}:\n${answer.state.join("\n")}\n`, "plaintext");
    } catch (error) {
        vscode.window.showErrorMessage(error.message);
    }
}

async function explainCode() {
    const editor = vscode.window.activeTextEditor;
    if (!client || !editor) {
        return;
    }
    const here = vscode.languages
        .getDiagnostics(editor.document.uri)
        .filter((d) => d.source === "surmise" && d.range.contains(editor.selection.active));
    const code = await vscode.window.showInputBox({
        prompt: "The code of a finding, such as E-UNSAFE",
        value: here.length ? String(here[0].code) : "",
    });
    if (!code) {
        return;
    }
    try {
        const answer = await client.sendRequest("workspace/executeCommand", {
            command: "surmise.explain",
            arguments: [code],
        });
        await show(answer.page, "markdown");
    } catch (error) {
        vscode.window.showErrorMessage(error.message);
    }
}

async function show(content, language) {
    const document = await vscode.workspace.openTextDocument({ content, language });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

async function activate(context) {
    context.subscriptions.push(
        vscode.commands.registerCommand("surmise.askWhy", askWhy),
        vscode.commands.registerCommand("surmise.explainCode", explainCode),
        vscode.commands.registerCommand("surmise.restart", async () => {
            await stop();
            await start();
        }),
        vscode.workspace.onDidChangeConfiguration(async (event) => {
            if (event.affectsConfiguration("surmise.path")) {
                await stop();
                await start();
            } else if (event.affectsConfiguration("surmise")) {
                await client?.sendNotification("workspace/didChangeConfiguration", {
                    settings: { surmise: settings() },
                });
            }
        }),
    );
    await start();
}

module.exports = { activate, deactivate: stop };
