# Building and running the product. Sourced by ./x.

cmd_build() {
  # --fast: for the page at home and in tests. No whole-program optimisation, no wasm-opt: four times the size.
  # --binary: then the command line with the page inside, for `neuronscope serve`.
  # --url: where the page will be. Programs that show a preview of a link want the whole address of its picture.
  local mode=--release binary=no url= usage="usage: ./x build [--fast | --binary] [--url https://HOST/PATH/]"
  while [ $# -gt 0 ]; do
    case $1 in
      --fast) mode=--release=false; shift ;;
      --binary) binary=yes; shift ;;
      --url) [ $# -gt 1 ] || die "--url needs an address" "$usage"; url=$2; shift 2 ;;
      --url=*) url=${1#*=}; shift ;;
      *) die "build $1: unknown option" "$usage" ;;
    esac
  done
  case $url in
    "" | http://*/ | https://*/) ;;
    *) die "--url $url: the address of a folder begins with https:// and ends with /" "$usage" ;;
  esac
  need_rust
  need_node
  local compiler=
  if ! tools_ready; then
    with_lock first_install_target
    # On a machine without the tools the page compiles while they do.
    compile_page "$mode" &
    compiler=$!
  fi
  ensure_tools
  [ -z "$compiler" ] || wait "$compiler" || die "the page could not be compiled (messages above)"
  cargo fetch --locked >&2 || die "the crates of Cargo.lock could not be fetched (messages above)"
  # Trunk reads NO_COLOR as a boolean and stops at the usual value 1.
  local color=auto
  if [ -n "${NO_COLOR:-}" ]; then color=never; fi
  env -u NO_COLOR trunk build "$mode" --locked --offline --color "$color" >&2 ||
    die "the page could not be built (messages above)"
  # An import from "env" is a symbol that nothing provides: the page would not start.
  ! grep -lE "from ['\"]env['\"]" "$DIST"/*.js >&2 || die "the files above import from 'env': a C symbol is missing in wasm"
  [ -z "$url" ] || put_address "$url"
  say "built $DIST: any static server can host it, under any path"
  [ "$binary" = yes ] || return 0
  cargo build --release --locked --bin neuronscope --features embed >&2 ||
    die "the command line could not be built (messages above)"
  say "built $(cli_path), which carries the page: neuronscope serve"
}

# put_address URL: the address of the page and of its picture, for previews of links.
put_address() {
  URL=$1 node -e '
    const { readFileSync, writeFileSync } = require("node:fs");
    const [file, url] = [process.argv[1], process.env.URL.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`)];
    const text = readFileSync(file, "utf8");
    const picture = /(<meta property="og:image" content=")card\.png"/;
    if (!picture.test(text)) throw new Error(`${file} names no picture`);
    writeFileSync(file, text.replace(picture, (_, start) => `<meta property="og:url" content="${url}" />${start}${url}card.png"`));
  ' "$DIST/index.html" || die "the address could not be put into $DIST/index.html (messages above)"
}

first_install_target() { has_target || install_target; }

# The programs of the page, as trunk compiles them.
compile_page() {
  local profile=page
  [ "$1" = --release ] || profile=serve
  cargo build --quiet --locked -p ns_web --bins --target "$WASM_TARGET" --profile "$profile" >&2
}

cmd_serve() {
  # Nobody at home waits for whole-program optimisation.
  local port=8080 build=--fast usage="usage: ./x serve [--port N] [--release | --no-build]"
  while [ $# -gt 0 ]; do
    case $1 in
      --port) [ $# -gt 1 ] || die "--port needs a number" "$usage"; port=$2; shift 2 ;;
      --port=*) port=${1#*=}; shift ;;
      --release) build=; shift ;;
      --no-build) build=no; shift ;;
      *) die "serve $1: unknown option" "$usage" ;;
    esac
  done
  # shellcheck disable=SC2086
  if [ "$build" = no ]; then need_node; else cmd_build $build; fi
  [ -f "$DIST/index.html" ] || die "dist/ is not built." "./x build"
  exec node "$ROOT/tools/serve.mjs" --dir "$DIST" --port "$port"
}

# Builds on every change, serves, and reloads the page: see tools/dev.mjs.
cmd_dev() {
  ensure_tools
  exec node "$ROOT/tools/dev.mjs" "$@"
}

build_cli() {
  need_rust
  (cd "$ROOT" && cargo build --release --locked --bin neuronscope) >&2 || die "the command line could not be built (messages above)"
}

cli_path() { echo "${CARGO_TARGET_DIR:-$ROOT/target}/release/neuronscope"; }
debug_cli_path() { echo "${CARGO_TARGET_DIR:-$ROOT/target}/debug/neuronscope"; }

# Only the program itself writes to stdout; it runs in the folder this was called from.
cmd_cli() {
  build_cli
  exec "$(cli_path)" "$@"
}
