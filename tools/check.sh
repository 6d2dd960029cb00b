# The checks that need no test run, and the counting that all suites share. Sourced by ./x.

PASSED=0
FAILED=0
FAILURES=()

# A line for each part: its seconds and its processor seconds. They show where the time of a run goes.
PARTS=()

# record NAME SECONDS PASSED FAILED [PROCESSOR_SECONDS]
record() {
  PASSED=$((PASSED + $3))
  FAILED=$((FAILED + $4))
  if [ "$4" -gt 0 ]; then FAILURES+=("$1"); fi
  PARTS+=("$(printf '%6s %6s  %s' "$2" "${5:--}" "$1")")
  say "$1: $3 passed, $4 failed ($2 s)"
}

# Sets PROCESSOR to the whole seconds that the processors worked for the programs which this shell has waited for: the second
# line of `times`, "1m2.3s 0m4.5s". `times` says nothing in a subshell, so it writes a file.
processor_seconds() {
  local file
  file=$(mktemp)
  times >"$file"
  PROCESSOR=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); n += 60 * t[1] + t[2] } printf "%d", n }' "$file")
  rm -f "$file"
}

# step NAME COMMAND...: one check, which counts as one test.
step() {
  local name=$1 start=$SECONDS failed=0 before
  processor_seconds
  before=$PROCESSOR
  shift
  say "-- $name"
  "$@" || failed=1
  processor_seconds
  record "$name" $((SECONDS - start)) $((1 - failed)) $failed $((PROCESSOR - before))
}

# suite NAME COMMAND...: a test run, whose own counts are added. A run that fails without a failed test counts as one.
suite() {
  local name=$1 start=$SECONDS log status=0 passed failed before
  processor_seconds
  before=$PROCESSOR
  shift
  say "-- $name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=1
  read -r passed failed < <(count_tests "$log")
  if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$status" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ] && ! grep -q "do not run again" "$log"; then
    say "$name: no test ran"
    failed=1
  fi
  rm -f "$log"
  processor_seconds
  record "$name" $((SECONDS - start)) "$passed" "$failed" $((PROCESSOR - before))
}

# Sums "test result: ok. 3 passed; 1 failed; ..." (Rust) and "# pass 3", "# fail 1", "# cancelled 0" (node).
count_tests() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
    /^test result: / { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i - 1); if ($i ~ /^failed/) f += $(i - 1) } }
    NF == 3 && $2 == "pass" && $3 ~ /^[0-9]+$/ { p += $3 }
    NF == 3 && ($2 == "fail" || $2 == "cancelled") && $3 ~ /^[0-9]+$/ { f += $3 }
    END { print p + 0, f + 0 }'
}

# Prints the summary, alone on the last line, and ends with it.
finish() {
  if [ "$FAILED" -gt 0 ]; then say "failed: $(printf '%s; ' "${FAILURES[@]}")"; fi
  say "seconds, those of processors, part:"
  printf 'x: %s\n' "${PARTS[@]}" >&2
  say "took $SECONDS s"
  printf '%s passed, %s failed\n' "$PASSED" "$FAILED"
  if [ "$FAILED" -gt 0 ]; then exit 1; fi
  exit 0
}

cmd_check() {
  [ $# = 0 ] || die "check takes no arguments"
  ensure_tools
  need_components
  run_checks
  # What no other target compiles: the rates in wasm.
  step "lints, wasm32" cargo clippy --locked -p ns_web --target "$WASM_TARGET" --all-targets --no-deps -- -D warnings
  step "documentation" documentation
  step "packages" packages_hold_the_sources
  finish
}

cmd_format() {
  [ $# = 0 ] || die "format takes no arguments"
  need_node
  need_components
  cargo fmt --all
  node "$ROOT/tools/tidy.mjs" --fix
}

# Lints are errors by the lint driver's own flag: RUSTFLAGS would replace .cargo/config.toml's flags and rebuild all.
run_checks() {
  step "format" cargo fmt --all --check
  step "form of scripts and documents" node tools/tidy.mjs
  step "lines of each crate" node tools/lines.mjs
  # The page too: its code is the same for every target, and for wasm32 all crates would be read once more.
  step "lints" cargo clippy --locked --workspace --all-targets -- -D warnings
  step "wasm-bindgen tool is the locked version" has_wasm_bindgen
}

# Links and code blocks of doc comments, without the page: its crates would need a native build of their own.
documentation() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps; }

# Each crate's package has every file of its folder, and the facade's has no page and no fixture except the one of the examples.
packages_hold_the_sources() {
  local manifest folder list
  for manifest in src/*/Cargo.toml; do
    folder=$(dirname "$manifest")
    list=$(cargo package --locked --list --allow-dirty --manifest-path "$manifest" 2>/dev/null) || return 1
    [ "$(grep -cvE '^(Cargo.lock|Cargo.toml.orig|.cargo_vcs_info.json)$' <<<"$list")" = "$(git ls-files --cached --others --exclude-standard "$folder" | wc -l)" ] ||
      { echo "files of $folder are missing in its package" >&2; return 1; }
  done
  list=$(cargo package --locked --list --allow-dirty -p neuronscope 2>/dev/null) || return 1
  [ "$(grep -c '^src/' <<<"$list")" = 2 ] || { echo "the package of the facade has other sources than its own" >&2; return 1; }
  [ "$(grep -c '^tests/' <<<"$list")" = 1 ] || { echo "the package has tests of the repository" >&2; return 1; }
}
