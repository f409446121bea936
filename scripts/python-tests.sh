#!/usr/bin/env bash
# Builds the Python package and tests it in a fresh virtual environment with the libraries whose shapes it offers.
#
#     scripts/python-tests.sh [PYTHON]
#
# The wheel is built with the profile of the tests, so that it shares what `cargo test` has compiled. Needs Python 3.10 or
# later with venv, and the package registry. Where something is missing the tests are skipped, which is said and counted,
# unless CI is set: there it is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
target=${CARGO_TARGET_DIR:-target}
home=$target/python-test

skip() {
    echo "SKIPPED: python: $1"
    if [ -n "${SURMISE_SKIPPED:-}" ]; then echo "SKIPPED: python: $1" >>"$SURMISE_SKIPPED"; fi
    if [ -n "${CI:-}" ]; then exit 1; fi
    exit 0
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "there is no Python 3.10 or later"
rm -rf "$home" && mkdir -p "$home"
"$python" -m venv "$home/venv" >"$home/venv.log" 2>&1 || skip "python3 -m venv does not work, see $home/venv.log"
pip() { "$home/venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install 'maturin>=1.8,<2' numpy pytest >"$home/pip.log" 2>&1 || skip "the package registry does not answer, see $home/pip.log"
# Tests of a library that has no wheel for this machine are skipped by pytest, which counts them.
for library in pettingzoo gymnasium open_spiel pygambit; do
    pip install --only-binary :all: "$library" >>"$home/pip.log" 2>&1 || echo "python: $library cannot be installed here"
done

(cd crates/python && "../../$home/venv/bin/maturin" build --quiet --profile dev --out "../../$home/wheels" \
    --interpreter "../../$home/venv/bin/python")
pip install --no-deps "$home"/wheels/surmise-*.whl
cd crates/python
"../../$home/venv/bin/python" -m pytest -q --no-header -p no:cacheprovider tests
