#!/usr/bin/env bash
# Packages the extension for Visual Studio Code: target/surmise-gdl-VERSION.vsix. Needs Node 20 or later and npm.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
stage=$target/vscode-extension
rm -rf "$stage"
mkdir -p "$stage"
cp -r editors/vscode/. "$stage"
rm -rf "$stage/test" "$stage/node_modules"
cat LICENSE-MIT LICENSE-APACHE > "$stage/LICENSE"
cd "$stage"
npm install --silent --no-audit --no-fund --ignore-scripts --omit=dev
version=$(node -p 'require("./package.json").version')
npx --yes @vscode/vsce@3 package --allow-missing-repository --out "../surmise-gdl-$version.vsix"
