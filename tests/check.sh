#!/bin/sh
# Installs what is missing, builds remotemac, and runs every test; ends with the exit status 0 only when all passed.
#   sh tests/check.sh           with sanitizers first (without torch), then everything; the last lines are those of the whole run
#   sh tests/check.sh --quick   only the second part
# Results lie in build/asan/junit.xml and build/dev/junit.xml.
set -eu
cd "$(dirname "$0")/.."

quick=no
for word in "$@"; do
  case $word in
  --quick) quick=yes ;;
  -h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    echo "check: '$word' is not known; there is only --quick" >&2
    exit 120
    ;;
  esac
done

# Compiled files are found again by ccache also in another folder of the same machine.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"
durations=''
phase_name=''

# phase NAME COMMAND...: runs it, and notes how long it took.
phase() {
  phase_name=$1
  shift
  echo "== $phase_name"
  began=$(date +%s)
  "$@"
  durations="$durations$(printf '%6d s  %s' $(($(date +%s) - began)) "$phase_name")
"
  phase_name=''
}

finish() {
  status=$?
  if [ -n "$phase_name" ]; then
    printf '%s' "$durations"
    echo "check: '$phase_name' failed (exit status $status)" >&2
  fi
  exit "$status"
}

# Prints to the end what CMake says only when it fails: the configuration is long, and the same each time.
configure() {
  mkdir -p "build/$1"
  cmake --preset "$1" >"build/$1/configure.log" 2>&1 || {
    status=$?
    cat "build/$1/configure.log"
    return "$status"
  }
  tail -n 4 "build/$1/configure.log"
}

build() {
  configure "$1"
  cmake --build --preset "$1"
}

run_tests() {
  preset=$1
  shift
  ctest --preset "$preset" -j2 --output-on-failure --no-tests=error --output-junit "$PWD/build/$preset/junit.xml" "$@"
}

trap finish EXIT
trap 'exit 130' INT TERM
phase 'set-up' sh tests/setup.sh
if [ "$quick" = no ]; then
  phase 'build with sanitizers' build asan
  phase 'tests with sanitizers' run_tests asan -L '^(unit|integration|property|e2e)$' -LE '^torch$'
fi
phase 'build' build dev
printf 'check: so far\n%s' "$durations"
# The last thing printed is ctest's own summary of the whole run.
phase 'tests' run_tests dev
