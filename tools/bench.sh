# Measurements: they print numbers and ratios, and none of them fails a run. Sourced by ./x.

cmd_bench() {
  [ $# = 0 ] || die "bench takes no arguments"
  cmd_build
  node "$ROOT/tools/sizes.mjs" "$DIST"
  local bench name
  for bench in "$ROOT"/benches/*.rs "$ROOT"/benches/*/main.rs; do
    [ -e "$bench" ] || continue
    name=$(basename "${bench%/main.rs}" .rs)
    say "-- $name (native)"
    cargo bench --locked --bench "$name"
  done
  setup_tests
  say "-- rates in wasm (headless Chromium, dedicated worker)"
  wasm_rates
  [ -e "$E2E/bench.mjs" ] || return 0
  build_cli
  say "-- in the browser"
  (cd "$E2E" && NEURONSCOPE_CLI=$(cli_path) node bench.mjs)
  say "-- the longest task of each view"
  (cd "$E2E" && node tasks.mjs)
  say "-- what a first visit costs"
  (cd "$E2E" && node vitals.mjs)
  say "-- a soak of ${NEURONSCOPE_SOAK_ACTIONS:-500} random actions"
  (cd "$E2E" && node soak.mjs) || say "the soak ended with an error (message above)"
}

# tests/wasm_rates.rs prints lines that begin with "rate:".
wasm_rates() {
  WASM_BINDGEN_TEST_TIMEOUT=${WASM_BINDGEN_TEST_TIMEOUT:-600} \
    cargo test --locked --profile bench --target "$WASM_TARGET" --no-default-features --features web --test wasm_rates \
    -- --nocapture 2>&1 | grep -E "rate:|error|FAILED|test result" || say "the rates could not be measured"
}
