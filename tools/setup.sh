# Set-up: what building and serving need. Sourced by ./x.
#
# Tools live in the user's cache, one folder per version, so that clones share them. Each is installed into a temporary
# folder and moved into place when it is complete: an interrupted run leaves nothing half done, and the next run continues
# with the crates compiled so far.

cmd_setup() {
  case ${1:-} in
    "" | --test) ;;
    *) die "setup $1: unknown option" "usage: ./x setup [--test]     (--test: also what the tests need)" ;;
  esac
  need_rust
  need_node
  tools_ready || with_lock install_tools
  smoke_test
  if [ "${1:-}" = --test ]; then setup_tests; fi
  say "set-up is complete (tools in $TOOLS)"
}

# For the commands that need the tools: does and prints nothing if they are installed.
ensure_tools() {
  if need_rust && need_node && tools_ready; then return 0; fi
  cmd_setup
}

need_rust() {
  have cargo && have rustc || die "Rust is missing. Install it with rustup, then run this again:" \
    "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
  local wanted found
  wanted=$(awk -F'"' '/^rust-version/ { print $2; exit }' "$ROOT/Cargo.toml")
  found=$(rustc --version | awk '{ print $2 }')
  [ "$(printf '%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1)" = "$wanted" ] ||
    die "rustc $found is too old: this project needs $wanted or later. Run:" "rustup update stable && rustup default stable"
}

need_node() {
  local hint="Debian 13 or Ubuntu 25.04 and later: sudo apt-get install -y nodejs npm      elsewhere: https://nodejs.org"
  have node && have npm || die "Node.js $NODE_MIN_MAJOR or later and npm are missing (for wasm-opt, serving and tests)." "$hint"
  local major
  major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge "$NODE_MIN_MAJOR" ] || die "Node.js $(node --version) is too old: $NODE_MIN_MAJOR or later is needed." "$hint"
}

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$WASM_TARGET/lib" ]; }
has_wasm_bindgen() {
  [ "$(wasm-bindgen --version 2>/dev/null)" = "wasm-bindgen $WASM_BINDGEN_VERSION" ] && have wasm-bindgen-test-runner
}
has_trunk() { [ "$(trunk --version 2>/dev/null)" = "trunk $TRUNK_VERSION" ]; }
has_wasm_opt() { case $(wasm-opt --version 2>/dev/null) in "wasm-opt version ${BINARYEN_VERSION%%.*} "*) ;; *) return 1 ;; esac; }
has_pyodide() { [ -f "$TOOLS/pyodide-$PYODIDE_VERSION/node_modules/pyodide/pyodide.asm.wasm" ]; }
tools_ready() { has_target && has_wasm_bindgen && has_trunk && has_wasm_opt && has_pyodide; }

# Two runs at once would install the same thing: the second waits. The lock goes with the process that holds it.
with_lock() {
  mkdir -p "$CACHE" || die "cannot create $CACHE: set NEURONSCOPE_CACHE to a folder that can be written"
  if ! have flock; then "$@"; return; fi
  exec 9>"$CACHE/lock"
  flock -n 9 || { say "another set-up is running: waiting for it"; flock 9; }
  "$@"
  exec 9>&-
}

# Each of them ends with minutes in which one processor works: beside each other they take two thirds of the time.
install_tools() {
  local job jobs=() failed=0
  mkdir -p "$TOOLS"
  rm -rf "$TOOLS"/.partial-*
  has_target || install_target
  has_wasm_opt || { install_wasm_opt & jobs+=($!); }
  has_pyodide || { install_pyodide & jobs+=($!); }
  has_wasm_bindgen || { install_wasm_bindgen & jobs+=($!); }
  has_trunk || { install_trunk & jobs+=($!); }
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
  [ "$failed" = 0 ] || exit 1
}

install_target() {
  local hint="rustup target add $WASM_TARGET"
  have rustup || die "This Rust cannot compile for $WASM_TARGET and was not installed by rustup. Install rustup, then run:" "$hint"
  say "Rust's standard library for $WASM_TARGET: downloading (some seconds)"
  rustup target add "$WASM_TARGET" >&2 || die "rustup could not fetch $WASM_TARGET. With a network that reaches static.rust-lang.org, run:" "$hint"
}

install_wasm_bindgen() {
  say "wasm-bindgen $WASM_BINDGEN_VERSION: compiling (1 to 4 minutes)"
  local name=wasm-bindgen-$WASM_BINDGEN_VERSION package hot=()
  # These work at every build of the page; without optimisation they take three times as long.
  for package in walrus wasm-bindgen-cli-support wasmparser wasm-encoder; do
    hot+=(--config "profile.release.package.$package.opt-level=1")
  done
  # Its published lock file can name a withdrawn crate, so the second try is without it.
  cargo_install "$name" wasm-bindgen-cli "$WASM_BINDGEN_VERSION" "${hot[@]}" --locked ||
    { say "its own lock file cannot be used: trying without"; cargo_install "$name" wasm-bindgen-cli "$WASM_BINDGEN_VERSION" "${hot[@]}"; } ||
    die "wasm-bindgen-cli could not be installed (messages above). Run this again when that is mended."
}

install_trunk() {
  say "trunk $TRUNK_VERSION: compiling (2 to 5 minutes)"
  cargo_install "trunk-$TRUNK_VERSION" trunk "$TRUNK_VERSION" --locked --no-default-features ||
    die "trunk could not be installed (messages above). Run this again when that is mended."
}

# cargo_install FOLDER CRATE VERSION [cargo's flags]: without optimisation and unwinding, as compiling is what takes time.
cargo_install() {
  local folder=$1 crate=$2 version=$3 partial=$TOOLS/.partial-$1 quiet=--quiet
  shift 3
  if [ -t 2 ]; then quiet=; fi
  # From the cache folder, so that this project's cargo configuration does not apply.
  (
    cd "$CACHE" || exit
    CARGO_TARGET_DIR=$CACHE/build/$folder CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_PANIC=abort CARGO_PROFILE_RELEASE_LTO=off \
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
      cargo install $quiet --root "$partial" --version "=$version" "$@" "$crate" >&2
  ) || return 1
  move_into_place "$partial" "$TOOLS/$folder"
  rm -rf "$CACHE/build/$folder"
}

install_wasm_opt() {
  say "wasm-opt (binaryen $BINARYEN_VERSION): downloading (100 MB, some seconds)"
  local partial=$TOOLS/.partial-binaryen
  mkdir -p "$partial"
  npm install --prefix "$partial" --no-audit --no-fund --ignore-scripts --loglevel=error "binaryen@$BINARYEN_VERSION" >&2 ||
    die "npm could not install binaryen (messages above). Run this again when the npm registry can be reached."
  move_into_place "$partial" "$TOOLS/binaryen-$BINARYEN_VERSION"
}

# Python for the page: it runs the files of NKI kernels.
install_pyodide() {
  say "pyodide $PYODIDE_VERSION: downloading (6 MB, some seconds)"
  local partial=$TOOLS/.partial-pyodide
  mkdir -p "$partial"
  npm install --prefix "$partial" --no-audit --no-fund --ignore-scripts --loglevel=error "pyodide@$PYODIDE_VERSION" >&2 ||
    die "npm could not install pyodide (messages above). Run this again when the npm registry can be reached."
  move_into_place "$partial" "$TOOLS/pyodide-$PYODIDE_VERSION"
}

move_into_place() {
  rm -rf "$2"
  mv "$1" "$2"
}

# Compiles and links a small program, and passes it through wasm-opt: an installed tool that cannot run fails here and not in a long build.
smoke_test() {
  say "checking: compile and link a small program for $WASM_TARGET"
  local dir
  dir=$(mktemp -d)
  echo 'fn main() { std::process::exit(i32::from(std::env::args().count() > 3)) }' >"$dir/smoke.rs"
  local hint="Remove $TOOLS and run ./x setup again."
  rustc --edition 2024 -O --target "$WASM_TARGET" -o "$dir/smoke.wasm" "$dir/smoke.rs" >&2 ||
    die "rustc cannot compile and link for $WASM_TARGET (messages above)." "rustup target remove $WASM_TARGET; rustup target add $WASM_TARGET"
  wasm-opt --strip-debug "$dir/smoke.wasm" -o "$dir/optimised.wasm" >&2 || die "wasm-opt does not work (messages above)." "$hint"
  node -e 'new WebAssembly.Module(fs.readFileSync(process.argv[1]))' "$dir/optimised.wasm" || die "the optimised program is not valid." "$hint"
  rm -rf "$dir"
}
