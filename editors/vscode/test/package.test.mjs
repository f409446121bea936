// The package as an editor would load it: what it names is there, its files are valid, and the client starts the server
// and asks it, with a stand-in for the module `vscode` where the real editor would be.
import assert from "node:assert/strict";
import fs from "node:fs";
import Module from "node:module";
import path from "node:path";
import test from "node:test";
import { require } from "./modules.mjs";

const root = path.join(path.dirname(new URL(import.meta.url).pathname), "..");
const json = (file) => JSON.parse(fs.readFileSync(path.join(root, file), "utf8"));
const manifest = json("package.json");

test("every file that the manifest names is there and valid", () => {
    const contributes = manifest.contributes;
    const named = [
        ...contributes.languages.map((l) => l.configuration),
        ...contributes.grammars.map((g) => g.path),
        ...contributes.snippets.map((s) => s.path),
    ];
    assert.equal(named.length, 6);
    named.forEach((file) => assert.ok(json(file), file));
    const languages = contributes.languages.map((l) => l.id);
    for (const { language, scopeName, path: file } of contributes.grammars) {
        assert.ok(languages.includes(language));
        assert.equal(json(file).scopeName, scopeName);
    }
    for (const configuration of contributes.languages.map((l) => json(l.configuration))) {
        new RegExp(configuration.wordPattern);
        Object.values(configuration.indentationRules).forEach((rule) => new RegExp(rule));
    }
    assert.ok(fs.existsSync(path.join(root, manifest.main)));
});

test("the version is that of the workspace, and the settings are those of the server", () => {
    const workspace = fs.readFileSync(path.join(root, "../../Cargo.toml"), "utf8");
    assert.equal(manifest.version, workspace.match(/^version = "(.*)"/m)[1]);
    const source = fs.readFileSync(path.join(root, "../../crates/lsp/src/settings.rs"), "utf8");
    const body = source.match(/pub struct Settings \{([\s\S]*?)\n\}/)[1];
    const fields = [...body.matchAll(/pub (\w+):/g)].map(([, name]) =>
        name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
    );
    const offered = Object.keys(manifest.contributes.configuration.properties).map((k) => k.replace("surmise.", ""));
    assert.deepEqual(offered.filter((name) => name !== "path").sort(), fields.sort());
});

test("snippets are rules of the language", () => {
    for (const file of ["snippets/gdl.json", "snippets/gdl-infix.json"]) {
        for (const [name, snippet] of Object.entries(json(file))) {
            const text = [snippet.body].flat().join("\n").replace(/\$\{\d:([^}]*)\}/g, "$1");
            const opened = text.split("(").length;
            assert.equal(opened, text.split(")").length, `${file} ${name}`);
            assert.ok(!text.includes("$"), `${file} ${name}`);
        }
    }
});

test("the client starts the server, asks it and stops it", async () => {
    // What the extension and the client library need of the editor. It answers like an editor without any file.
    const commands = new Map();
    const started = [];
    const vscode = {
        commands: {
            registerCommand: (name, run) => {
                commands.set(name, run);
                return { dispose() {} };
            },
        },
        workspace: {
            getConfiguration: () => ({ get: (name) => (name === "path" ? process.env.SURMISE : undefined) }),
            onDidChangeConfiguration: () => ({ dispose() {} }),
        },
        window: { showErrorMessage: (message) => assert.fail(message) },
    };
    class LanguageClient {
        constructor(id, name, server, options) {
            Object.assign(this, { id, name, server, options });
        }
        async start() {
            started.push(this);
        }
        async stop() {
            started.splice(started.indexOf(this), 1);
        }
    }
    const load = Module._load;
    Module._load = function (request, ...rest) {
        if (request === "vscode") return vscode;
        if (request === "vscode-languageclient/node") return { LanguageClient, TransportKind: { stdio: 0 } };
        return load.call(this, request, ...rest);
    };
    try {
        const extension = Module.createRequire(import.meta.url)(path.join(root, "extension.js"));
        await extension.activate({ subscriptions: [] });
        assert.deepEqual([...commands.keys()].sort(), manifest.contributes.commands.map((c) => c.command).sort());
        assert.equal(started.length, 1);
        assert.deepEqual(started[0].server.args, ["lsp"]);
        assert.equal(started[0].server.command, process.env.SURMISE);
        await commands.get("surmise.restart")();
        assert.equal(started.length, 1);
        await extension.deactivate();
        assert.equal(started.length, 0);
    } finally {
        Module._load = load;
    }
});

test("the real client library speaks with the real server", async () => {
    // The connection of the client library, without the parts of it that need an editor.
    const { spawn } = await import("node:child_process");
    const rpc = require("vscode-languageserver-protocol/node");
    const child = spawn(process.env.SURMISE, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    const exited = new Promise((resolve) => child.on("exit", resolve));
    const connection = rpc.createProtocolConnection(
        new rpc.StreamMessageReader(child.stdout),
        new rpc.StreamMessageWriter(child.stdin),
    );
    const published = new Promise((resolve) =>
        connection.onNotification(rpc.PublishDiagnosticsNotification.type, resolve),
    );
    connection.listen();
    const answer = await connection.sendRequest(rpc.InitializeRequest.type, {
        processId: process.pid,
        rootUri: null,
        capabilities: {},
    });
    assert.equal(answer.serverInfo.name, "surmise");
    await connection.sendNotification(rpc.InitializedNotification.type, {});
    const uri = "file:///tmp/game.kif";
    await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId: "gdl", version: 1, text: "(role robot)\n(legal robot" },
    });
    const { diagnostics } = await published;
    assert.equal(diagnostics[0].code, "E-PAREN");
    await connection.sendRequest(rpc.ShutdownRequest.type);
    await connection.sendNotification(rpc.ExitNotification.type);
    assert.equal(await exited, 0);
});
