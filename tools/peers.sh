# Other tools open what is written, and count the same. A peer that can't be had says skipped. Sourced by ./x.

XPROF_VERSION=2.24.2

cmd_peers() {
  step "build the command line" in_subshell build_cli
  suite "XProf's converter opens what is written as xplane" peer_xprof
}

peer_xprof() {
  local venv=$TOOLS/xprof-$XPROF_VERSION work trace
  if [ ! -x "$venv/bin/python" ] || [ ! -f "$venv/.installed" ]; then
    say "XProf $XPROF_VERSION: downloading from PyPI (32 MB)"
    if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q --no-deps "xprof==$XPROF_VERSION" protobuf gviz_api six; } >&2; then
      say "skipped: XProf $XPROF_VERSION can't be had from PyPI"
      return 0
    fi
    touch "$venv/.installed"
  fi
  work=$(mktemp -d)
  for trace in tests/it/fixtures/traces/{hta_amd_mi250_minitoy.json.gz,hta_triton_example.json.gz,fxprofiler_hello.cjs-20231120T211435.cpuprofile}; do
    "$(cli_path)" open "$trace" --json --export xplane --output "$work/out.xplane.pb" >"$work/ours.json" || return 1
    "$venv/bin/python" tests/peers/xprof_totals.py "$work/out.xplane.pb" >"$work/theirs.json" 2>"$work/log" || { cat "$work/log" >&2; return 1; }
    say "$(basename "$trace")"
    python3 tests/peers/compare.py "$work/ours.json" "$work/theirs.json" >&2 || return 1
  done
  rm -rf "$work"
}
