# `make test` is everything CI runs. `make bench` measures; run it on a quiet machine.

CARGO ?= cargo
SECONDS ?= 600

.PHONY: test fmt clippy unit bench fuzz play slurm-test lab interop

test: fmt clippy unit

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

unit:
	$(CARGO) test --workspace --quiet

bench:
	$(CARGO) build --release --quiet
	python3 benchmarks/check.py
	python3 benchmarks/engine.py

# Goes on looking for inputs that break the reader; what breaks it is kept in testdata/fuzz/.
fuzz:
	SURMISE_FUZZ_SECONDS=$(SECONDS) $(CARGO) test -p surmise-gdl --test fuzz -- --nocapture

play:
	$(CARGO) run --release --quiet -p surmise-cli -- match krieg-tictactoe --games 20

# Job arrays against a real Slurm on loopback; needs root and the packages munge, slurmctld, slurmd and slurm-client.
slurm-test:
	SURMISE_SLURM=1 $(CARGO) test -p surmise-cli --test slurm -- --nocapture

# Every figure and table of the papers at its quick size, with reports in lab-results/.
lab:
	$(CARGO) run --release --quiet -p surmise-cli -- lab run all --quick --out lab-results

# Other people's HTTP clients and servers, and a player that somebody else wrote, from crates.io.
interop:
	$(CARGO) build --release --quiet
	scripts/interop/stacks.py $${CARGO_TARGET_DIR:-target}/release/surmise
	scripts/interop/ggp-rs.sh $${CARGO_TARGET_DIR:-target}/release/surmise tictactoe connect-four
