#!/usr/bin/env bash
# Tests of the pages in a real browser (crates/web/tests/browser/). Needs the debug program, Node 20.11 or later, Chromium
# and playwright-core. With CI or SURMISE_BROWSER set, the last two are installed where they are missing; otherwise the
# tests are skipped, and the skip is written to the file that $SURMISE_SKIPPED names.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
modules=$(mkdir -p "$target/browser-tests" && cd "$target/browser-tests" && pwd)
version=1.65.0
export SURMISE=${SURMISE:-$(cd "$target" && pwd)/debug/surmise}

skip() {
    echo "browser tests skipped: $1"
    if [ -n "${SURMISE_SKIPPED:-}" ]; then echo "scripts/browser-tests.sh: $1" >> "$SURMISE_SKIPPED"; fi
    exit 0
}

may_install() { [ -n "${CI:-}${SURMISE_BROWSER:-}" ]; }

apt_install() {
    local sudo=()
    if [ "$(id -u)" != 0 ]; then sudo=(sudo -n); fi
    command -v apt-get > /dev/null || return 1
    "${sudo[@]}" apt-get install -y -qq "$@" > /dev/null 2>&1 ||
        { "${sudo[@]}" apt-get update -qq > /dev/null 2>&1 && "${sudo[@]}" apt-get install -y -qq "$@" > /dev/null 2>&1; }
}

find_chromium() {
    local name
    for name in "${SURMISE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        if [ -n "$name" ] && command -v "$name"; then return; fi
    done
    return 1
}

[ -x "$SURMISE" ] || skip "there is no program at $SURMISE (cargo build -p surmise-cli)"
if ! command -v node > /dev/null && may_install; then apt_install nodejs npm || true; fi
command -v node > /dev/null || skip "node is missing"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 11) ? 0 : 1)' ||
    skip "node is older than 20.11"
if ! find_chromium > /dev/null && may_install; then apt_install chromium || true; fi
SURMISE_CHROMIUM=$(find_chromium) || skip "Chromium is missing"
export SURMISE_CHROMIUM SURMISE_BROWSER_MODULES=$modules

if ! grep -qs "\"version\": \"$version\"" "$modules/node_modules/playwright-core/package.json"; then
    may_install || skip "playwright-core is missing (SURMISE_BROWSER=1 installs it into $modules)"
    echo '{"private": true}' > "$modules/package.json"
    (cd "$modules" && npm install --silent --no-audit --no-fund --ignore-scripts --no-save "playwright-core@$version") ||
        skip "npm could not install playwright-core"
fi

exec node --test --test-concurrency=2 --test-reporter=spec crates/web/tests/browser/
