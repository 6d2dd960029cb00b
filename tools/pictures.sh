# Pictures of the built page, for people. Sourced by ./x.

# ./x pictures [--no-build] [FOLDER [PART OF A NAME]]: every view and state at three widths and in both themes.
# ./x pictures --docs: the pictures of docs/images.
# ./x pictures --examples: what pages show before their programs come (www/examples).
cmd_pictures() {
  local builds=1
  if [ "${1:-}" = --no-build ]; then shift; builds=; fi
  case ${1:-} in
    --examples | --docs | "" | [!-]*) ;;
    *) die "pictures $1: unknown option" "usage: ./x pictures [--no-build] [--docs | --examples | FOLDER [PART OF A NAME]]" ;;
  esac
  [ -z "$builds" ] || cmd_build --fast
  [ -f "$DIST/index.html" ] || die "dist/ is not built." "./x build"
  case ${1:-} in
    --examples)
      setup_tests
      (cd "$E2E" && node examples.mjs)
      return
      ;;
  esac
  local folder=${1:-pictures}
  case $folder in --docs | /*) ;; *) folder=$ROOT/$folder ;; esac
  [ $# = 0 ] || shift
  setup_tests
  (cd "$E2E" && node pictures.mjs "$folder" "$@")
}
