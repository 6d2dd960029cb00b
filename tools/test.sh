# The tests: native, and end to end against dist/. Sourced by ./x.

# The browser that the user asks for, if any.
CHOSEN_BROWSER=${CHROMIUM:-}
BROWSERS=(chromium chromium-browser google-chrome google-chrome-stable)

# Which parts there are; `all` is the first three.
TEST_USAGE="usage: ./x test [lints | native | browser | nightly | long | peers | ROOM...]"

cmd_test() {
  case ${1:-all} in
    -*) die "test $1: unknown option" "$TEST_USAGE" ;;
    all | lints | native | browser | nightly | long | peers) [ $# -lt 2 ] || die "test $1 takes nothing else" "$TEST_USAGE" ;;
    *) test_rooms "$@"; return ;;
  esac
  # A machine that discards target/ compiles only once: data for a second compilation is not kept, and crates are cut into fewer parts,
  # so that less is compiled twice.
  if [ -n "${CI:-}" ]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=4 CARGO_PROFILE_SERVE_CODEGEN_UNITS=4
  fi
  case ${1:-all} in
    all)
      ensure_tools
      need_components
      setup_tests
      begin_page_build
      run_checks
      native_tests
      step "build the page" page_is_built
      # The binary that the native tests built and ran: a release build takes minutes, and gives the same bytes. Tests whose page is the one
      # that they passed with do not run again, except in CI.
      if [ -n "${CI:-}" ]; then browser_tests; else browser_tests --changed; fi
      ;;
    lints)
      ensure_tools
      need_components
      run_checks
      ;;
    native)
      need_rust
      native_tests
      ;;
    browser)
      ensure_tools
      setup_tests
      step "build the page" in_subshell cmd_build --fast
      step "build the command line" cargo build --locked --bin neuronscope
      browser_tests
      ;;
    nightly)
      ensure_tools
      setup_tests
      step "build the page" in_subshell cmd_build
      # Only a release compiles it, which is too late to learn that it does not.
      step "the command line with the page inside compiles" cargo check --locked -p ns_cli --features embed
      # What others get with `cargo add`: each crate is compiled from its package.
      step "packages compile" cargo package --quiet --locked --allow-dirty --workspace --exclude ns_web --exclude ns_python
      suite "end-to-end tests that measure" nightly_tests
      ;;
    long)
      need_rust
      suite "native tests that take long" long_tests
      ;;
    peers)
      ensure_tools
      cmd_peers
      python_torch_tests
      ;;
  esac
  finish
}

# Who uses the library does not compile the command line.
library_is_alone() {
  local with
  with=$(cargo tree --locked -p neuronscope --no-default-features -e normal --prefix none | grep -E "^(ns_cli|clap|parquet|httparse|indicatif) ")
  [ -z "$with" ] || { echo "the library depends on $with" >&2; return 1; }
}

native_tests() {
  step "the library without the command line" library_is_alone
  suite "native tests" cargo test --locked --no-fail-fast
  run_examples
  python_native_tests
}

# browser_tests [--changed]
browser_tests() {
  step "the command line is built" test -x "$(debug_cli_path)"
  suite "end-to-end tests" e2e_tests "$@"
}

# The tests of crates of src/.
test_rooms() {
  local room packages=()
  for room in "$@"; do
    [ -f "$ROOT/src/$room/Cargo.toml" ] || die "test $room: src/ has no such crate. It has:" "$(cd "$ROOT/src" && ls -d */ | tr -d / | tr '\n' ' ')"
    packages+=(-p "ns_$room")
  done
  need_rust
  suite "tests of $*" cargo test --locked -p ns_features "${packages[@]}"
  finish
}

# The programs of examples/ must exit with 0. The native tests have built them.
run_examples() {
  local example name out
  out=$(mktemp -d)
  for example in "$ROOT"/examples/*.rs; do
    name=$(basename "$example" .rs)
    step "example $name" run_example "$name" "$out/$name"
  done
  rm -rf "$out"
}

# The output is shown if the program fails or prints nothing.
run_example() { cargo run --locked --quiet --example "$1" >"$2" 2>&1 && [ -s "$2" ] || { cat "$2" >&2; return 1; }; }

# A step's failure must not end the run: `die` leaves only the subshell.
in_subshell() { ("$@"); }

# The page is built in parallel with the checks and native tests, in folders of target/ that they do not lock. It runs in a process group of its own, so that an interrupted run ends it too.
begin_page_build() {
  say "building the page in the background"
  PAGE_LOG=$(mktemp)
  set -m
  (cmd_build --fast) >"$PAGE_LOG" 2>&1 &
  PAGE_BUILD=$!
  set +m
  trap 'kill -- -"$PAGE_BUILD" 2>/dev/null || true; rm -f "$PAGE_LOG"' EXIT
  trap 'exit 130' INT TERM
}

# Waits for the build of the page, and prints its output.
page_is_built() {
  local status=0
  wait "$PAGE_BUILD" || status=$?
  cat "$PAGE_LOG" >&2
  return "$status"
}

# e2e_tests [--changed]
e2e_tests() { NEURONSCOPE_CLI=$(debug_cli_path) CHROMIUM=$TEST_BROWSER node "$ROOT/tools/e2e.mjs" "$@"; }

# They measure or take long, on the page as it is published: layout shifts, long tasks, a soak.
nightly_tests() {
  (cd "$E2E" && node --test --test-concurrency=1 --test-reporter=spec nightly/*.test.mjs)
}

# Hundreds of kills of the commands that write, 30,000 changed files for those that read, with counts of how they ended, and thousands of random
# configurations; with $NEURONSCOPE_TRACES, the traces of that folder too.
long_tests() {
  local without=(--skip speed_of)
  [ -n "${NEURONSCOPE_TRACES:-}" ] || without+=(--skip large_traces)
  cargo test --locked --test it -- --ignored --nocapture --test-threads 1 "${without[@]}"
}

# What tests need beyond building: lints, a browser with its driver, and the test packages.
setup_tests() {
  need_components
  need_browser
  need_e2e_packages
}

need_components() {
  if cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; then return 0; fi
  say "clippy and rustfmt: downloading (some seconds)"
  have rustup && rustup component add clippy rustfmt >&2 || die "clippy and rustfmt are missing. Run:" "rustup component add clippy rustfmt"
}

# Sets CHROMIUM, CHROMEDRIVER (both exported) and TEST_BROWSER; installs Debian's packages when they are missing.
need_browser() {
  find_browser && return 0
  local install="apt-get install -y --no-install-recommends chromium chromium-driver"
  have apt-get || die "Chromium and ChromeDriver are missing (for the browser tests)." \
    "Install them, or set CHROMIUM and CHROMEDRIVER to their paths."
  can_be_root || die "Chromium and ChromeDriver are missing (for the browser tests), and installing them needs root. Run:" "sudo $install"
  say "Chromium and its driver: installing with apt (about 30 s)"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive $install >&2 2>&1 || {
    as_root apt-get update >&2
    as_root env DEBIAN_FRONTEND=noninteractive $install >&2
  } || die "apt could not install the browser (messages above). Set CHROMIUM and CHROMEDRIVER to an installed pair instead."
  # Older systems do not have it, and the tests run without it too.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium-headless-shell >&2 || true
  find_browser || die "Chromium was installed and cannot be found: set CHROMIUM and CHROMEDRIVER to its paths."
}

# Chromium without windows is enough for tests, which take a seventh less time with it; what measures or takes pictures wants a whole one.
find_browser() {
  CHROMIUM=$(first_of "$CHOSEN_BROWSER" "${BROWSERS[@]}") || return 1
  TEST_BROWSER=$(first_of "$CHOSEN_BROWSER" chromium-headless-shell "$CHROMIUM") || return 1
  CHROMEDRIVER=$(first_of "${CHROMEDRIVER:-}" "${CHROMEWEBDRIVER:+$CHROMEWEBDRIVER/chromedriver}" chromedriver) || return 1
  export CHROMIUM CHROMEDRIVER
}

# The stamp is written last: an interrupted installation is repeated.
need_e2e_packages() {
  local stamp=$E2E/node_modules/.installed
  if cmp -s "$E2E/package-lock.json" "$stamp"; then return 0; fi
  say "packages of the end-to-end tests: installing with npm (some seconds)"
  (cd "$E2E" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2 || die "npm could not install the test packages (messages above)"
  cp "$E2E/package-lock.json" "$stamp"
}
