# A digest of everything that the command line prints, over the models and the fixtures. Sourced by ./x.

cmd_digests() {
  case ${1:-} in
    "") ;;
    --update) export UPDATE_DOCS=1 ;;
    *) die "digests $1: unknown option" "usage: ./x digests [--update]" ;;
  esac
  cargo test --locked --test it digests::
}
