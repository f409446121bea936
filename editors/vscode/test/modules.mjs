// Packages that scripts/editor-tests.sh has installed.
import { createRequire } from "node:module";
import path from "node:path";

const folder = process.env.SURMISE_EDITOR_MODULES;
if (!folder) {
    throw new Error("run scripts/editor-tests.sh");
}
export const require = createRequire(path.join(folder, "package.json"));
export const modules = path.join(folder, "node_modules");
