# The tests: native, and end to end against dist/. Sourced by ./x.

cmd_test() {
  local fast=no
  case ${1:-} in
    "") ;;
    --fast) fast=yes ;;
    --peers)
      ensure_tools
      cmd_peers
      finish
      return
      ;;
    -*) die "test $1: unknown option" "usage: ./x test [--fast | --peers | ROOM]" ;;
    *)
      test_room "$1"
      return
      ;;
  esac
  # A machine that discards target/ compiles only once: data for a second compilation is not kept.
  if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi
  ensure_tools
  need_components
  if [ "$fast" = no ]; then
    setup_tests
    begin_page_build
  fi
  run_checks
  suite "native tests" cargo test --locked --no-fail-fast
  run_examples
  if [ "$fast" = no ]; then
    step "build the page" page_is_built
    # The binary that the native tests built and ran: a release build takes minutes, and gives the same bytes.
    step "the command line is built" test -x "$(debug_cli_path)"
    suite "end-to-end tests" e2e_tests
  fi
  finish
}

# The tests of one crate of src/, and its lints.
test_room() {
  [ -f "$ROOT/src/$1/Cargo.toml" ] || die "test $1: src/ has no such crate. It has:" "$(cd "$ROOT/src" && ls -d */ | tr -d / | tr '\n' ' ')"
  need_rust
  suite "tests of $1" cargo test --locked -p "ns_$1"
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

# Two files at a time: a page waits for its workers about as long as it works.
e2e_tests() {
  (cd "$E2E" && NEURONSCOPE_CLI=$(debug_cli_path) node --test --test-concurrency=2 --test-reporter=spec ./*.test.mjs)
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

# Sets and exports CHROMIUM and CHROMEDRIVER; installs Debian's packages when they are missing.
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
  find_browser || die "Chromium was installed and cannot be found: set CHROMIUM and CHROMEDRIVER to its paths."
}

find_browser() {
  CHROMIUM=$(first_of "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable) || return 1
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
