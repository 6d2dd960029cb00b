# A digest of everything that the command line prints, over the models and the fixtures. Sourced by ./x.

cmd_digests() {
  local update=
  case ${1:-} in
    "") ;;
    --update) update=1 ;;
    *) die "digests $1: unknown option" "usage: ./x digests [--update]" ;;
  esac
  build_cli
  if [ -n "$update" ]; then export UPDATE_DOCS=1; fi
  # The test runner's own output is left out; its exit code says whether all digests equal the stored ones.
  NEURONSCOPE_CLI=$(cli_path) cargo test --locked --quiet --test it digests::whole -- --ignored --exact --nocapture |
    grep -E '^[0-9a-f]{16}  |^changed: |commands print'
}
