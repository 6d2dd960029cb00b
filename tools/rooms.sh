# The structure of the library, as its sources say. Sourced by ./x.

cmd_rooms() {
  case ${1:-} in
    "") ;;
    --circles) print_circles; return ;;
    *) die "rooms $1: unknown option" "usage: ./x rooms [--circles]" ;;
  esac
  need_components
  local log
  log=$(cargo test --locked --quiet --test it layering::report::print_rooms -- --ignored --exact --nocapture) ||
    die "the table could not be made" "cargo test --test it layering"
  # What the test runner says about itself is left out.
  awk '/^room /,/^all /' <<<"$log"
}

# Every folder: its name as WITHOUT_CIRCLES lists it, or a circle of uses between its files.
print_circles() {
  need_components
  cargo test --locked --quiet --test it layering::circles::tests::print_circles -- --ignored --exact --nocapture |
    sed -E '/^running /d; /^test result/d; /^\.*$/d'
}
