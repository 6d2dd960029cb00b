# Measurements: they print numbers and ratios, and none of them fails a run. Sourced by ./x.

cmd_bench() {
  [ $# = 0 ] || die "bench takes no arguments"
  cmd_build
  node "$ROOT/tools/sizes.mjs" "$DIST"
  local bench name
  for bench in "$ROOT"/benches/*.rs; do
    [ -e "$bench" ] || continue
    name=$(basename "$bench" .rs)
    say "-- $name (native)"
    cargo bench --locked --bench "$name"
  done
  [ -e "$E2E/bench.mjs" ] || return 0
  build_cli
  setup_tests
  say "-- in the browser"
  (cd "$E2E" && NEURONSCOPE_CLI=$(cli_path) node bench.mjs)
}
