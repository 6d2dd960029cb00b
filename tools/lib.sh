# Shared by all of ./x: pinned versions, places, messages. Sourced; ROOT is the repository.

TRUNK_VERSION=0.21.14
BINARYEN_VERSION=132.0.0
PYODIDE_VERSION=314.0.7
WASM_TARGET=wasm32-unknown-unknown
NODE_MIN_MAJOR=20
CACHE=${NEURONSCOPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/neuronscope}
case $CACHE in /*) ;; *) CACHE=$PWD/$CACHE ;; esac
TOOLS=$CACHE/tools
DIST=$ROOT/dist
E2E=$ROOT/tests/e2e

# The wasm-bindgen tool must be exactly the version of the locked crate.
WASM_BINDGEN_VERSION=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/[^0-9.]/, ""); print; exit }' "$ROOT/Cargo.lock")

PATH=$TOOLS/wasm-bindgen-$WASM_BINDGEN_VERSION/bin:$TOOLS/trunk-$TRUNK_VERSION/bin:$TOOLS/binaryen-$BINARYEN_VERSION/node_modules/.bin:$PATH
export PATH

# Everything that is not a command's own output goes to stderr.
say() { printf '%s\n' "x: $*" >&2; }

die() {
  printf '%s\n' "x: $1" >&2
  shift
  for line in "$@"; do printf '   %s\n' "$line" >&2; done
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# How to run something as root without asking for a password; fails when there is no way.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }

# The first of the given commands or paths that exists.
first_of() {
  for candidate in "$@"; do
    if [ -n "$candidate" ] && have "$candidate"; then command -v "$candidate"; return 0; fi
  done
  return 1
}
