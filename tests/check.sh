#!/bin/sh
# Installs what is missing, builds remotemac, and runs every test; ends with the exit status 0 only when all passed.
#   sh tests/check.sh            first the code that meets foreign bytes under address and undefined-behaviour sanitizers (without
#                                torch), then everything; the last lines are ctest's summary
#   sh tests/check.sh --no-asan  everything, without the part under sanitizers
# Results lie in build/asan/junit.xml and build/dev/junit.xml.
set -eu
cd "$(dirname "$0")/.."

asan=yes
sanitized='common_test compare_test daemon_test gate_property_test policies_test sync_test verdict_test'
for word in "$@"; do
  case $word in
  --no-asan) asan=no ;;
  -h | --help)
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *)
    echo "check: '$word' is not known; there is only --no-asan" >&2
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

# build PRESET [TARGET...]
build() {
  preset=$1
  shift
  configure "$preset"
  if [ $# = 0 ]; then
    cmake --build --preset "$preset"
  else
    cmake --build --preset "$preset" --target "$@"
  fi
}

run_tests() {
  preset=$1
  shift
  ctest --preset "$preset" -j2 --output-on-failure --no-tests=error --output-junit "$PWD/build/$preset/junit.xml" "$@"
}

trap finish EXIT
trap 'exit 130' INT TERM
phase 'set-up' sh tests/setup.sh
if [ "$asan" = yes ]; then
  # The code that meets foreign bytes: files, frames, documents, a hostile host. The rest runs in the second part.
  # shellcheck disable=SC2086 # a list of words
  phase 'build with sanitizers' build asan $sanitized
  phase 'tests with sanitizers' run_tests asan -R "\.($(echo $sanitized | tr ' ' '|'))\."
fi
phase 'build' build dev
printf 'check: so far\n%s' "$durations"
# The last thing printed is ctest's own summary of the whole run.
phase 'tests' run_tests dev
