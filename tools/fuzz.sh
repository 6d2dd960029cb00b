# Fuzzing: each target of fuzz/ for a minute. Sourced by ./x.

FUZZ_SECONDS=${FUZZ_SECONDS:-60}
# First inputs, in addition to those that earlier runs found (fuzz/corpus): real files, and files that once failed.
FUZZ_SEEDS="tests/it/fixtures/traces tests/it/fixtures/fuzz"
# First inputs of the readers of model files.
FUZZ_MODELS="tests/it/fixtures/models/pt2 tests/it/fixtures/models/onnx tests/it/fixtures/models/hlo tests/it/fixtures/models/stablehlo"

cmd_fuzz() {
  local only=${1:-}
  # Sanitizers are not stable yet: a nightly Rust has them, any other one on request.
  if cargo +nightly --version >/dev/null 2>&1; then export RUSTUP_TOOLCHAIN=nightly; else export RUSTC_BOOTSTRAP=1; fi
  cargo fuzz --version >/dev/null 2>&1 || die "fuzzing needs cargo-fuzz. Run:" "cargo install cargo-fuzz"
  local target
  for target in $(cargo fuzz list); do
    if [ -n "$only" ] && [ "$only" != "$target" ]; then continue; fi
    say "-- $target ($FUZZ_SECONDS s)"
    mkdir -p "fuzz/corpus/$target"
    local seeds=$FUZZ_SEEDS
    case $target in import_*) seeds=$FUZZ_MODELS ;; esac
    # shellcheck disable=SC2086
    cargo fuzz run "$target" "fuzz/corpus/$target" $seeds -- \
      -max_total_time="$FUZZ_SECONDS" -max_len=65536 -rss_limit_mb=4096 -timeout=20 ||
      die "$target found a failing input (above). Keep it in tests/it/fixtures/fuzz and fix the reader"
  done
}
