# `make test` is everything CI runs. `make bench` measures; run it on a quiet machine.

CARGO ?= cargo
SECONDS ?= 600

.PHONY: test fmt clippy unit bench fuzz play

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
	SURMISE_FUZZ_SECONDS=$(SECONDS) $(CARGO) test -p gdl --test fuzz -- --nocapture

play:
	$(CARGO) run --release --quiet -p surmise -- match krieg-tictactoe --games 20
