# Fuzzing: each target of fuzz/ for a minute. Sourced by ./x.

FUZZ_SECONDS=${FUZZ_SECONDS:-60}

cmd_fuzz() {
  if [ ! -f "$ROOT/fuzz/Cargo.toml" ]; then say "there are no fuzz targets (no fuzz/Cargo.toml)"; return 0; fi
  cargo +nightly --version >/dev/null 2>&1 || die "fuzzing needs a nightly Rust. Run:" "rustup toolchain install nightly --profile minimal"
  cargo +nightly fuzz --version >/dev/null 2>&1 || die "fuzzing needs cargo-fuzz. Run:" "cargo install cargo-fuzz"
  local target
  for target in $(cargo +nightly fuzz list); do
    say "-- $target ($FUZZ_SECONDS s)"
    cargo +nightly fuzz run "$target" -- -max_total_time="$FUZZ_SECONDS" || die "$target found a failing input (above)"
  done
}
