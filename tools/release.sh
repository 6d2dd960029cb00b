# What .github/workflows/release.yml does with a shell: files of a release in target/release-files/, tested before they are published. Sourced by ./x.

RELEASE_USAGE="usage: ./x release [tag vX.Y.Z | program NAME | wheel | checksums FOLDER | crates [--dry-run]]"
RELEASE_FILES=$ROOT/target/release-files
# The C library that programs and wheels may need: manylinux_2_28. Amazon Linux 2023 has 2.34.
NEWEST_GLIBC=2.28
WHEEL_MEGABYTES=30

cmd_release() {
  case ${1:-} in
    tag) release_tag "${2:?$RELEASE_USAGE}" ;;
    program) release_program "${2:?$RELEASE_USAGE}" ;;
    wheel) release_wheel ;;
    checksums) release_checksums "${2:?$RELEASE_USAGE}" ;;
    # Twenty crates, in the order of their dependencies; those of the page and of the Python package are `publish = false`.
    crates) shift; cargo publish --locked --workspace "$@" ;;
    *) die "$RELEASE_USAGE" ;;
  esac
}

# The version of the workspace.
release_version() { sed -n '/^\[workspace.package\]/,/^version/ s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml"; }

release_tag() {
  local version
  version=$(release_version)
  [ "$1" = "v$version" ] || die "the tag is $1, and Cargo.toml has version $version: tag v$version, or change the version and CHANGELOG.md"
}

# The newest symbol of glibc that a program asks for is not above $NEWEST_GLIBC.
release_glibc() {
  local newest
  have objdump || return 0
  newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
  [ "$(printf '%s\n' "$newest" "GLIBC_$NEWEST_GLIBC" | sort -V | tail -n 1)" = "GLIBC_$NEWEST_GLIBC" ] ||
    die "$1 needs $newest, and Amazon Linux is promised GLIBC_$NEWEST_GLIBC: build it in the container of manylinux_2_28"
}

# The command line with the page inside, and its licences, as an archive. dist/ has to be there.
release_program() {
  local folder=neuronscope-$1 program=${CARGO_TARGET_DIR:-$ROOT/target}/release/neuronscope made
  [ -f "$DIST/index.html" ] || die "the page is not built: ./x build"
  made=$RELEASE_FILES/$folder
  rm -rf "$made"
  mkdir -p "$made"
  # The notices are no part of the page.
  [ ! -f "$DIST/NOTICES.txt" ] || mv "$DIST/NOTICES.txt" "$made/"
  cargo build --release --locked --bin neuronscope --features embed
  [ ! -f "$program.exe" ] || program=$program.exe
  cp "$program" "$ROOT/LICENSE" "$made/"
  case $1 in *-linux) release_glibc "$made/neuronscope" ;; esac
  [ "$("$made/$(basename "$program")" --version)" = "neuronscope $(release_version)" ] || die "the program says another version than Cargo.toml"
  "$made/$(basename "$program")" bench --model nn --duration 2
  tar -czf "$made.tar.gz" -C "$RELEASE_FILES" "$folder"
  rm -rf "$made"
}

# Installs what is in target/release-files in a fresh environment and uses it: the library, the command, the page, the tests of the package.
release_wheel() {
  local file venv python=python3 status=0
  have python3 || python=python
  venv=$(mktemp -d)
  for file in "$RELEASE_FILES"/neuronscope-*.whl "$RELEASE_FILES"/neuronscope-[0-9]*.tar.gz; do
    [ -f "$file" ] || continue
    [ "$(($(wc -c <"$file") / 1000000))" -le "$WHEEL_MEGABYTES" ] || die "$file is larger than $WHEEL_MEGABYTES MB"
    "$python" -m venv --clear "$venv"
    release_installed "$file" "$venv" || status=1
  done
  rm -rf "$venv"
  [ "$status" = 0 ] || die "an installed package does not work (messages above)"
}

# release_installed PACKAGE ENVIRONMENT
release_installed() {
  local bin=$2/bin
  [ -d "$bin" ] || bin=$2/Scripts
  "$bin/pip" install -q "$1" "pytest==$PYTEST_VERSION" || return 1
  [ "$("$bin/neuronscope" --version)" = "neuronscope $(release_version)" ] || return 1
  "$bin/python" -m neuronscope bench --model nn --duration 2 || return 1
  (cd "$ROOT/src/python" && NEURONSCOPE_CLI=$bin/neuronscope "$bin/python" -m pytest -q -rs tests)
}

release_checksums() { (cd "$1" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS && cat SHA256SUMS); }
