# The structure of the library, as its sources say. Sourced by ./x.

cmd_rooms() {
  [ $# = 0 ] || die "rooms takes no arguments"
  need_components
  local log
  log=$(cargo test --locked --quiet --test it layering::report::print_rooms -- --ignored --exact --nocapture) ||
    die "the table could not be made" "cargo test --test it layering"
  # What the test runner says about itself is left out.
  awk '/^room /,/^all /' <<<"$log"
}
