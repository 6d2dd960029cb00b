# Measurements: they print numbers and ratios, and none of them fails a run. Sourced by ./x.

cmd_bench() {
  case ${1:-} in
    "") ;;
    --lighthouse) lighthouse_scores; return ;;
    *) die "bench $1: unknown option" "usage: ./x bench [--lighthouse]" ;;
  esac
  cmd_build
  node "$ROOT/tools/sizes.mjs" "$DIST"
  local bench name
  for bench in "$ROOT"/benches/*.rs "$ROOT"/benches/*/main.rs; do
    [ -e "$bench" ] || continue
    name=$(basename "${bench%/main.rs}" .rs)
    say "-- $name (native)"
    cargo bench --locked --bench "$name"
  done
  say "-- reading and drawing traces (native)"
  cargo test --locked --quiet --profile bench --test it formats::speed_of_reading_and_drawing -- --ignored --exact --nocapture |
    sed -E '/^running /d; /^test result/d; /^\.*$/d'
  setup_tests
  say "-- rates in wasm (headless Chromium, dedicated worker)"
  wasm_rates
  [ -e "$E2E/bench/traces.mjs" ] || return 0
  build_cli
  say "-- in the browser"
  (cd "$E2E" && NEURONSCOPE_CLI=$(cli_path) node bench/traces.mjs)
  say "-- opening model files in the browser"
  (cd "$E2E" && node bench/models.mjs)
  say "-- the longest task of each view"
  (cd "$E2E" && node bench/tasks.mjs)
  say "-- what a first visit costs"
  (cd "$E2E" && node bench/vitals.mjs)
  say "-- a soak of ${NEURONSCOPE_SOAK_ACTIONS:-500} random actions"
  (cd "$E2E" && node bench/soak.mjs) || say "the soak ended with an error (message above)"
}

# Lighthouse is 200 packages, so it is downloaded only on request.
LIGHTHOUSE_VERSION=12.8.2

lighthouse_scores() {
  local home=$TOOLS/lighthouse-$LIGHTHOUSE_VERSION
  cmd_build
  find_browser || need_browser
  if ! [ -e "$home/.installed" ]; then
    say "lighthouse $LIGHTHOUSE_VERSION: downloading (1 min)"
    mkdir -p "$home"
    (cd "$home" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error "lighthouse@$LIGHTHOUSE_VERSION") >&2 ||
      die "npm could not install lighthouse (messages above)"
    touch "$home/.installed"
  fi
  node "$ROOT/tools/lighthouse.mjs" "$home/node_modules" "$DIST" "$ROOT/target/lighthouse"
  say "whole reports: $ROOT/target/lighthouse"
}

# src/web/tests/wasm_rates.rs prints lines that begin with "rate:".
wasm_rates() {
  WASM_BINDGEN_TEST_TIMEOUT=${WASM_BINDGEN_TEST_TIMEOUT:-600} \
    cargo test --locked --profile page --target "$WASM_TARGET" -p ns_web --test wasm_rates \
    -- --nocapture 2>&1 | grep -E "rate:|error|FAILED|test result" || say "the rates could not be measured"
}
