# `make test` is everything CI runs. `make bench` measures; run it on a quiet machine.

CARGO ?= cargo
SECONDS ?= 600
TARGET := $(or $(CARGO_TARGET_DIR),target)
SURMISE := $(TARGET)/release/surmise
# Tests that lack their data or a program write a line here.
SKIPPED := $(abspath $(TARGET))/skipped-tests.txt

.PHONY: test fmt clippy unit skipped golden portable bench fuzz schedules chaos play slurm-test lab interop browser editor extension python-test wheel

test: fmt clippy unit browser editor python-test skipped

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

unit:
	@mkdir -p $(TARGET) && rm -f $(SKIPPED)
	SURMISE_CACHE=off SURMISE_SKIPPED=$(SKIPPED) $(CARGO) test --workspace --quiet

# The pages in Chromium. SURMISE_BROWSER=1 installs what is missing, as CI does.
browser:
	SURMISE_SKIPPED=$(SKIPPED) scripts/browser-tests.sh
# The extension for Visual Studio Code: grammars on the catalogue, and the client. CI or SURMISE_EDITOR=1 installs what
# is missing.
editor:
	SURMISE_SKIPPED=$(SKIPPED) scripts/editor-tests.sh

# The extension as a package, target/surmise-gdl-VERSION.vsix.
extension:
	scripts/vscode-extension.sh

# The Python package, installed from its wheel into a fresh virtual environment.
python-test:
	SURMISE_SKIPPED=$(SKIPPED) scripts/python-tests.sh

# The wheel as it is released, in target/wheels/.
wheel:
	python3 -m venv $(TARGET)/wheel-venv
	$(TARGET)/wheel-venv/bin/python -m pip install --quiet 'maturin>=1.8,<2'
	cd crates/python && $(abspath $(TARGET))/wheel-venv/bin/maturin build --release --out $(abspath $(TARGET))/wheels

skipped:
	@if [ -s $(SKIPPED) ]; then sort -u $(SKIPPED); echo "$$(sort -u $(SKIPPED) | wc -l) tests were skipped"; \
	else echo "no test was skipped"; fi

# Writes the golden playthroughs of the catalogue anew; look at the difference before you commit it.
golden:
	SURMISE_GOLDEN=1 $(CARGO) test --quiet -p surmise --test golden

# The tests of the simulators as other processors than x86-64 run them, and the whole workspace checked for one.
portable:
	RUSTFLAGS='--cfg surmise_portable' $(CARGO) test -p surmise-propnet --target-dir $(TARGET)/portable
	$(CARGO) check --workspace --target aarch64-unknown-linux-gnu --target-dir $(TARGET)/portable

bench:
	$(CARGO) build --release --quiet
	python3 benchmarks/check.py
	python3 benchmarks/engine.py

# Coverage-guided search for inputs that break something; what does is kept in testdata/fuzz/.
fuzz:
	CARGO=$(CARGO) scripts/fuzz.sh $(SECONDS)

# Hostile schedules for server and manager under a simulated network and clock.
schedules:
	SURMISE_SCHEDULES=$(or $(SCHEDULES),5000) $(CARGO) test -p surmise --test simulation -- --nocapture

# 1,000 matches over loopback whose managers and players are killed at random moments.
chaos:
	$(CARGO) build --release --quiet
	python3 benchmarks/chaos.py

play:
	$(CARGO) run --release --quiet -- match krieg-tictactoe --games 20

# Job arrays against a real Slurm on loopback; needs root and the packages munge, slurmctld, slurmd and slurm-client.
slurm-test:
	SURMISE_SLURM=1 $(CARGO) test -p surmise-cli --test slurm -- --nocapture

# Every figure and table of the papers at its quick size, with reports in lab-results/.
lab:
	$(CARGO) run --release --quiet -- lab run all --quick --out lab-results

# Other people's HTTP clients and servers, and a player that somebody else wrote, from crates.io.
interop:
	$(CARGO) build --release --quiet
	scripts/interop/stacks.py $(SURMISE)
	scripts/interop/ggp-rs.sh $(SURMISE) tictactoe connect-four
