#!/usr/bin/env bash
# Tests of the editor extension (editors/vscode/test/): the grammars on the games of the catalogue, and the client with
# a stand-in for the editor. Needs the debug program, Node 20.11 or later, vscode-textmate, vscode-oniguruma and
# vscode-languageclient. With CI or SURMISE_EDITOR set, the packages are installed where they are missing; otherwise the
# tests are skipped, and the skip is written to the file that $SURMISE_SKIPPED names.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
modules=$(mkdir -p "$target/editor-tests" && cd "$target/editor-tests" && pwd)
packages=(vscode-textmate@9.3.2 vscode-oniguruma@2.0.1 vscode-languageclient@9.0.1)
export SURMISE=${SURMISE:-$(cd "$target" && pwd)/debug/surmise}

skip() {
    echo "editor tests skipped: $1"
    if [ -n "${SURMISE_SKIPPED:-}" ]; then echo "scripts/editor-tests.sh: $1" >> "$SURMISE_SKIPPED"; fi
    exit 0
}

[ -x "$SURMISE" ] || skip "there is no program at $SURMISE (cargo build -p surmise-cli)"
command -v node > /dev/null || skip "node is missing"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 11) ? 0 : 1)' ||
    skip "node is older than 20.11"
for package in "${packages[@]}"; do
    if ! grep -qs "\"version\": \"${package#*@}\"" "$modules/node_modules/${package%@*}/package.json"; then
        [ -n "${CI:-}${SURMISE_EDITOR:-}" ] ||
            skip "${package%@*} is missing (SURMISE_EDITOR=1 installs it into $modules)"
        echo '{"private": true}' > "$modules/package.json"
        (cd "$modules" && npm install --silent --no-audit --no-fund --ignore-scripts --no-save "${packages[@]}") ||
            skip "npm could not install ${packages[*]}"
        break
    fi
done
export SURMISE_EDITOR_MODULES=$modules
exec node --test --test-reporter=spec editors/vscode/test/*.test.mjs
