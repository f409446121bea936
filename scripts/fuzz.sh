#!/usr/bin/env bash
# Coverage-guided fuzzing on stable Rust: scripts/fuzz.sh SECONDS [TARGET…]
#
# Builds crates/fuzz with LLVM's coverage counters and runs each target under libFuzzer for its share of the time. The
# corpus stays in target/fuzz/corpus/, so that the next run goes on from it. An input that panics, takes longer than
# 60 s or more than 2 GiB is written to testdata/fuzz/TARGET/, and the exit status is 1. Needs a C++ compiler.
set -u
cd "$(dirname "$0")/.."
seconds=${1:-600}
shift || true
root=$PWD
target_dir=${CARGO_TARGET_DIR:-$root/target}/fuzz
triple=$(rustc -vV | sed -n 's/^host: //p')

# The counters of cargo-fuzz. With --target they are not put into build scripts and macros.
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags="$flags -Cllvm-args=-sanitizer-coverage-trace-compares"
RUSTFLAGS="$flags" ${CARGO:-cargo} build -p surmise-fuzz --features libfuzzer --profile fuzz --target "$triple" \
  --target-dir "$target_dir" --quiet || exit 1
program=$target_dir/$triple/fuzz/surmise-fuzz

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  mapfile -t names < <(sed -n 's/^        name: "\(.*\)",$/\1/p' crates/fuzz/src/targets.rs)
fi
share=$((seconds / ${#names[@]}))
status=0
for name in "${names[@]}"; do
  mkdir -p "$target_dir/corpus/$name" "testdata/fuzz/$name"
  log=$target_dir/$name.log
  SURMISE_FUZZ_TARGET=$name SURMISE_FUZZ_SEED=$RANDOM$RANDOM "$program" "$target_dir/corpus/$name" \
    -max_total_time="$((share > 0 ? share : 1))" -max_len=32768 -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="testdata/fuzz/$name/" > "$log" 2>&1
  rc=$?
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  echo "$name: ${inputs:-?} inputs, ${coverage:-no coverage}, exit status $rc"
  rmdir --ignore-fail-on-non-empty "testdata/fuzz/$name"
  if [ $rc -ne 0 ]; then
    status=1
    grep -m3 -E 'panicked|ERROR|SUMMARY|artifact' "$log"
  fi
done
exit $status
