# The Python package: its wheel, and its tests in a fresh environment. Sourced by ./x.

MATURIN_VERSION=1.16.0
PYTEST_VERSION=9.2.0
# For the test of the notebook, which is skipped where these cannot be had.
NOTEBOOK_PACKAGES="nbclient==0.11.0 nbformat==5.11.1 nbconvert==7.17.2 ipykernel==7.4.0"
# For the tests of tables in other libraries, in the same way.
TABLE_PACKAGES="pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1"
# For the tests of the types, in the same way.
CHECKER_PACKAGES="mypy==2.4.1 pyright==1.1.414"
TORCH_VERSION=2.15.0
WHEELS=$ROOT/target/wheels

cmd_python() {
  case ${1:-test} in
    wheel) python_wheel wheel ;;
    # The sources, which pip compiles where there is no wheel.
    sdist) need_rust; need_python; python_maturin sdist ;;
    test) python_tests; finish ;;
    # Scripts of the SDK and modules of PyTorch, which are 1 GB to download.
    torch) python_tests "torch==$TORCH_VERSION"; finish ;;
    bench) python_measurements ;;
    *) die "usage: ./x python [wheel | sdist | torch | bench]" ;;
  esac
}

# python_wheel PROFILE: the wheel in target/wheels/, with the page inside. The profile dev is compiled in the time of the command line, and takes
# the page only if it is built.
python_wheel() {
  need_rust
  need_python
  [ "$1" = dev ] || [ -f "$DIST/index.html" ] || cmd_build
  python_maturin build --quiet --profile "$1" --locked
}

# python_maturin COMMAND...: what maturin makes, in target/wheels/.
python_maturin() {
  local tool package=$ROOT/src/python/python/neuronscope status=0
  tool=$(python_tool maturin "$MATURIN_VERSION") || die "maturin could not be installed (messages above)"
  # `maturin develop` leaves its library among the sources, from where it would go into the wheel.
  rm -rf "$WHEELS"/neuronscope-* "$package"/_core.*so "$package/page"
  if [ -f "$DIST/index.html" ]; then cp -R "$DIST" "$package/page"; else say "the page is not built (./x build): the wheel is without it"; fi
  python3 "$ROOT/tools/notices.py" > "$package/NOTICES.txt" || die "the licences of the crates could not be read (messages above)"
  (cd "$ROOT/src/python" && "$tool/bin/maturin" "$@" --out "$WHEELS") >&2 || status=1
  # The package of the sources has no page, which would be an old one soon.
  rm -rf "$package/page" "$package/NOTICES.txt"
  [ "$status" = 0 ] || die "the Python package could not be built (messages above)"
}

need_python() { have python3 || die "Python 3.9 or later is missing (for the Python package)"; }

# A package of PyPI with its command, in an environment of its own, whose path is printed. python_tool NAME VERSION OTHER_PACKAGES...
python_tool() {
  local name=$1 version=$2 venv=$TOOLS/$1-$2
  shift 2
  if [ ! -f "$venv/.installed" ]; then
    say "$name $version: downloading from PyPI"
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q "$name==$version" "$@"; } >&2 || return 1
    touch "$venv/.installed"
  fi
  echo "$venv"
}

# python_tests OTHER_PACKAGES...
python_tests() {
  step "build the wheel" in_subshell python_wheel dev
  step "build the command line" cargo build --locked --bin neuronscope
  suite "tests of the Python package" python_wheel_tests "$@"
}

# Nothing is installed but what is named here, so what the package needs is what it asks for.
python_wheel_tests() {
  local venv status=0
  venv=$(mktemp -d)
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q "pytest==$PYTEST_VERSION" "$WHEELS"/neuronscope-*.whl "$@"; } || status=1
  python_peer_packages "$venv" || true
  [ "$status" = 0 ] && python_pytest "$venv" || status=1
  rm -rf "$venv"
  return "$status"
}

# The packages of other tools that some tests need; fails if one cannot be had. python_peer_packages ENVIRONMENT
python_peer_packages() {
  local status=0
  # shellcheck disable=SC2086
  "$1/bin/pip" install -q $NOTEBOOK_PACKAGES >&2 || { status=1; say "the packages of notebooks cannot be had from PyPI: their test is skipped"; }
  # shellcheck disable=SC2086
  "$1/bin/pip" install -q $TABLE_PACKAGES >&2 || { status=1; say "pyarrow, polars and DuckDB cannot be had from PyPI: their tests are skipped"; }
  # shellcheck disable=SC2086
  "$1/bin/pip" install -q $CHECKER_PACKAGES >&2 || { status=1; say "mypy and pyright cannot be had from PyPI: their tests are skipped"; }
  return "$status"
}

# The tests without a wheel, in ./x test.
python_native_tests() {
  local venv
  have python3 || { say "skipped: there is no Python 3.9 or later for the tests of the Python package"; return 0; }
  venv=$(python_environment) || { say "skipped: pytest cannot be had from PyPI for the tests of the Python package"; return 0; }
  python_library
  suite "tests of the Python package" python_folder_tests "$venv"
}

# The same with PyTorch, in ./x test peers.
python_torch_tests() {
  local venv
  have python3 || { say "skipped: there is no Python 3.9 or later for the tests of the Python package with PyTorch"; return 0; }
  venv=$(python_tool torch "$TORCH_VERSION" "pytest==$PYTEST_VERSION" numpy) || { say "skipped: PyTorch $TORCH_VERSION cannot be had from PyPI"; return 0; }
  python_library
  suite "tests of the Python package with PyTorch" python_folder_tests "$venv"
}

# maturin compiles everything again, because the features of the package's crates alone are others. With the workspace's tests cargo
# compiles little more than the library.
python_library() { step "build the library of the Python package" cargo build --locked --quiet --lib --tests; }

# pytest and what the package needs, in an environment that is kept; its path is printed.
python_environment() {
  local venv
  venv=$(python_tool pytest "$PYTEST_VERSION" numpy) || return 1
  if [ ! -f "$venv/.peers" ]; then
    if python_peer_packages "$venv"; then touch "$venv/.peers"; fi
  fi
  echo "$venv"
}

# python_folder_tests ENVIRONMENT
python_folder_tests() {
  local site status=0
  site=$(mktemp -d)
  { python_folder debug "$site" && PYTHONPATH=$site python_pytest "$1"; } || status=1
  rm -rf "$site"
  return "$status"
}

# The package as a wheel installs it, from the library of a folder of target/. python_folder debug SITE
python_folder() {
  local built=${CARGO_TARGET_DIR:-$ROOT/target}/$1 library
  library=$(first_of_files "$built"/libns_python.so "$built"/libns_python.dylib "$built"/ns_python.dll) || return 1
  cp -R "$ROOT/src/python/python/neuronscope" "$2/"
  case $library in
    *.dll) cp "$library" "$2/neuronscope/_core.pyd" ;;
    *) cp "$library" "$2/neuronscope/_core.abi3.so" ;;
  esac
}

first_of_files() {
  local file
  for file in "$@"; do
    if [ -f "$file" ]; then echo "$file"; return 0; fi
  done
  echo "there is none of: $*" >&2
  return 1
}

# python_pytest ENVIRONMENT: its last line is counted as that of node.
python_pytest() {
  local status=0 log
  log=$(mktemp)
  find_browser || say "there is no browser: the page of the notebook is not opened"
  (cd "$ROOT/src/python" && NEURONSCOPE_CLI=$(debug_cli_path) "$1/bin/pytest" -q -rs tests) 2>&1 | tee "$log" || status=1
  awk '/ in [0-9.]+s/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p = $(i - 1); if ($i ~ /^(failed|error)/) f += $(i - 1) } }
    END { printf "# pass %d\n# fail %d\n", p, f }' "$log"
  rm -f "$log"
  return "$status"
}

# The figures of docs/python.md, of the published profile. PYTHON names an interpreter with NumPy, and with torch for the model of torch.
python_measurements() {
  local site
  need_rust
  need_python
  cargo build --locked --profile wheel -p neuronscope -p ns_python --bin neuronscope --lib >&2
  site=$(mktemp -d)
  python_folder wheel "$site"
  strip "$site"/neuronscope/_core.* 2>/dev/null || true
  PYTHONPATH=$site "${PYTHON:-$(python_environment)/bin/python}" "$ROOT/benches/python.py" "${CARGO_TARGET_DIR:-$ROOT/target}/wheel/neuronscope"
  rm -rf "$site"
}
