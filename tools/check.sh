# The checks that need no test run, and the counting that all suites share. Sourced by ./x.

PASSED=0
FAILED=0
FAILURES=()

# record NAME SECONDS PASSED FAILED
record() {
  PASSED=$((PASSED + $3))
  FAILED=$((FAILED + $4))
  if [ "$4" -gt 0 ]; then FAILURES+=("$1"); fi
  say "$1: $3 passed, $4 failed ($2 s)"
}

# step NAME COMMAND...: one check, which counts as one test.
step() {
  local name=$1 start=$SECONDS
  shift
  say "-- $name"
  if "$@"; then record "$name" $((SECONDS - start)) 1 0; else record "$name" $((SECONDS - start)) 0 1; fi
}

# suite NAME COMMAND...: a test run, whose own counts are added. A run that fails without a failed test counts as one.
suite() {
  local name=$1 start=$SECONDS log status=0 passed failed
  shift
  say "-- $name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=1
  read -r passed failed < <(count_tests "$log")
  rm -f "$log"
  if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$status" = 0 ] && [ "$passed" = 0 ] && [ "$failed" = 0 ]; then say "$name: no test ran"; failed=1; fi
  record "$name" $((SECONDS - start)) "$passed" "$failed"
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
  finish
}

run_checks() {
  local web=(--target "$WASM_TARGET" --no-default-features --features web)
  step "format" cargo fmt --all --check
  # Lints are errors by the lint driver's own flag: RUSTFLAGS would replace .cargo/config.toml's flags and rebuild all.
  step "lints, native" cargo clippy --locked --all-targets -- -D warnings
  step "lints, web" cargo clippy --locked "${web[@]}" --lib --bins --test 'web*' -- -D warnings
  step "core without features, native" cargo check --locked --lib --no-default-features
  step "core without features, wasm32" cargo check --locked --lib --no-default-features --target "$WASM_TARGET"
  step "wasm-bindgen tool is the locked version" has_wasm_bindgen
  step "core depends on no web crate" core_has_no_web_crate
}

core_has_no_web_crate() {
  local target found
  for target in "$(rustc -vV | awk '/^host/ { print $2 }')" "$WASM_TARGET"; do
    found=$(cargo tree --locked --no-default-features -e normal --prefix none --target "$target") || return 1
    found=$(grep -E '^(wasm-bindgen|js-sys|web-sys|yew|gloo|serde-wasm-bindgen|console_error_panic_hook)' <<<"$found" | sort -u) || continue
    printf 'for %s:\n%s\n' "$target" "$found" >&2
    return 1
  done
}
