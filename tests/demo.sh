#!/bin/sh
# Shows remotemac at work on this machine alone: builds it, starts a stand-in for a rented Mac, and judges an example project.
#   sh tests/demo.sh            everything it makes lies in .demo (delete that folder whenever you like) and in build/dev
# THE MAC IS SIMULATED. To judge a project on a real one, see what this script prints at its end.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
demo=$root/.demo
standin_folder=$demo/standin
bin=$root/build/dev/bin

case ${1:-} in
'') ;;
-h | --help)
  sed -n '2,4s/^# \{0,1\}//p' "$0"
  exit 0
  ;;
*)
  echo "demo: it takes no arguments" >&2
  exit 120
  ;;
esac

say() {
  printf '\n== %s\n' "$*"
}

# Shown as one would type it.
step() {
  printf '\n$ remotemac'
  printf ' %s' "$@"
  printf '\n'
  status=0
  "$bin/remotemac" "$@" || status=$?
}

# Whatever happens, nothing of the demonstration goes on running: neither the stand-in nor the daemon of this machine.
started=no
finish() {
  status=$?
  trap - EXIT
  cd "$root"
  if [ "$started" = yes ]; then
    python3 tests/standin/standin.py stop --dir "$standin_folder" --state "$XDG_STATE_HOME/remotemac/local-host" >/dev/null ||
      echo "demo: the stand-in could not be stopped; see above" >&2
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

say 'Set-up and build'
sh tests/setup.sh
mkdir -p build/dev "$demo"
cmake --preset dev >build/dev/configure.log 2>&1 || {
  cat build/dev/configure.log
  echo 'demo: the configuration failed; what it printed above says why' >&2
  exit 125
}
cmake --build --preset dev --target remotemac remotemacd remotemac-worker remotemac_sim_mps

# Settings, state and hosts of the demonstration stay apart from yours.
export XDG_CONFIG_HOME="$demo/config" XDG_STATE_HOME="$demo/state" XDG_CACHE_HOME="$demo/cache"
export REMOTEMAC_SSH_CONFIG="$standin_folder/ssh_config" REMOTEMAC_LOCAL_PACKAGES_FROM="$root/.venv/bin/python"
unset REMOTEMAC_HOST REMOTEMAC_LOCAL_PYTHON
mkdir -p "$XDG_CONFIG_HOME" "$XDG_STATE_HOME" "$XDG_CACHE_HOME"

say 'A stand-in for the Mac: a real SSH server on this machine, with a simulated MPS device'
started=yes
python3 tests/standin/standin.py start --dir "$standin_folder"
fingerprint=$(python3 tests/standin/standin.py info --dir "$standin_folder" --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["fingerprint"])')

say "The project: a copy of docs/examples/digits in .demo/project"
mkdir -p "$demo/project"
cp -R docs/examples/digits/. "$demo/project/"
cd "$demo/project"

step host add standin standin --replace --accept-key "$fingerprint" --region here --operator demonstration
[ "$status" = 0 ] || exit "$status"
step reference
[ "$status" = 0 ] || exit "$status"
step run --host standin
cd "$root"
run_status=$status

# The newest run, and its reports.
runs=$demo/project/.remotemac/runs
newest=$(ls -1 "$runs" 2>/dev/null | sort | tail -n 1)
[ -n "$newest" ] || {
  echo "demo: there is no run in $runs" >&2
  exit 125
}
"$bin/remotemac" report "$newest" --project "$demo/project" --format text >"$demo/report.txt"
say 'The report of this run'
printf '  as text      %s\n  as Markdown  %s\n  as JSON      %s\n' \
  "$demo/report.txt" "$runs/$newest/report.md" "$runs/$newest/report.json"
for file in "$demo/report.txt" "$runs/$newest/report.md" "$runs/$newest/report.json"; do
  [ -s "$file" ] || {
    echo "demo: $file is missing or empty" >&2
    exit 125
  }
done
say 'What this was'
cat <<END
The Mac above was SIMULATED: a folder on this machine, and a device that computes on the CPU and only says that it is MPS.
It shows how remotemac works; what it found says nothing about a Mac, and the report says so too.

With a real one (Apple Silicon, reachable by ssh, python3 on it):
  $bin/remotemac host add mac user@host     # compare the fingerprint it shows with the provider's console
  cd your/project
  $bin/remotemac init                       # proposes a remotemac.toml: what may leave, what to run
  $bin/remotemac run --host mac
Binaries for the Mac have to lie beside remotemac first; host add says where if they do not.
END
exit "$run_status"
