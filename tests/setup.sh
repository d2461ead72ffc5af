#!/bin/sh
# Installs what building and testing remotemac needs: Debian or Ubuntu packages, and a virtual environment .venv with torch.
# What is there already is left as it is, so a second call takes a second or two. Run it from anywhere:
#   sh tests/setup.sh
set -eu
cd "$(dirname "$0")/.."

packages='ccache cmake g++ git libcli11-dev libexpected-dev libgmock-dev libgtest-dev libseccomp-dev libspdlog-dev
  libsqlite3-dev libssh-dev libssl-dev libtomlplusplus-dev libutf8proc-dev libzstd-dev ninja-build nlohmann-json3-dev
  openssh-client openssh-server pkg-config python3-venv rsync zlib1g-dev'

fail() {
  echo "setup: $*" >&2
  exit 1
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

available() {
  apt-cache show "$1" >/dev/null 2>&1
}

# Which of the packages are not there, with the Boost that this system has.
missing_packages() {
  for package in $packages; do
    installed "$package" || printf '%s ' "$package"
  done
  boost_there || boost_package
}

# 1.81 is the oldest one that works; libboost-dev is older than that on Debian 12, and newer on later systems.
boost_there() {
  installed libboost1.81-dev && return 0
  version=$(sed -n 's/^#define BOOST_VERSION //p' /usr/include/boost/version.hpp 2>/dev/null) || return 1
  [ "${version:-0}" -ge 108100 ]
}

boost_package() {
  if available libboost1.81-dev; then
    printf 'libboost1.81-dev '
  else
    printf 'libboost-dev '
  fi
}

# As root directly, else through sudo, which may ask for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

update_lists() {
  as_root apt-get update -qq && return 0
  echo "setup: 'apt-get update' failed; trying once more" >&2
  as_root apt-get update -qq || fail "'apt-get update' failed twice; check the network and this machine's package sources, then
  run this again"
}

# A service that starts by itself is not wanted: the tests start their own sshd, on the loopback address only.
install_quietly() {
  as_root apt-get install -y -qq --no-install-recommends "$@" ||
    fail "apt-get could not install: $*; what it printed above says why"
}

install_packages() {
  command -v dpkg-query >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 ||
    fail "this script knows Debian and Ubuntu only; elsewhere install by hand what cmake/Dependencies.cmake names, then run:
  cmake --preset dev"
  missing=$(missing_packages)
  if [ -z "$missing" ]; then
    echo "setup: all packages are installed"
    return 0
  fi
  if [ "$(id -u)" = 0 ]; then
    echo "setup: installing packages: $missing"
  elif command -v sudo >/dev/null 2>&1; then
    echo "setup: installing packages, with sudo (it may ask for your password): $missing"
  else
    fail "these packages are missing, and neither are you root nor is there sudo. Have an administrator run:
  apt-get update && apt-get install --no-install-recommends $missing"
  fi
  update_lists
  missing=$(missing_packages) # which Boost there is may be known only now
  # shellcheck disable=SC2086 # a list of words
  install_quietly $missing
  missing=$(missing_packages)
  [ -z "$missing" ] || fail "still missing after the installation: $missing"
}

# True when the environment works: the packages are whole, not only there by name.
venv_works() {
  [ -x .venv/bin/python ] && .venv/bin/python -c 'import numpy, sklearn, torch; torch.zeros(1).add_(1)' >/dev/null 2>&1
}

make_venv() {
  if venv_works; then
    echo "setup: .venv is ready"
    return 0
  fi
  free_kib=$(df -Pk . | awk 'NR == 2 { print $4 }')
  [ "$free_kib" -gt 10000000 ] ||
    fail "$((free_kib / 1000000)) GB are free here; torch needs about 8 GB in .venv, and pip some room beside"
  if [ -e .venv ]; then
    echo "setup: .venv does not work (numpy, scikit-learn and torch must import); making it anew"
    rm -rf .venv
  fi
  echo "setup: making .venv with torch, numpy and scikit-learn. The usual build of torch brings CUDA with it: a download of"
  echo "setup: about 3 GB, 6 GB on the disk, and some minutes (longer on a slow line). It is done once."
  /usr/bin/python3 -m venv .venv || fail "no virtual environment could be made; is the package python3-venv whole?"
  pip_install || {
    echo "setup: pip failed; trying once more" >&2
    pip_install ||
      fail "pip could not install torch, numpy and scikit-learn; what it printed above says why (its settings: pip config list)"
  }
  venv_works ||
    fail "torch, numpy and scikit-learn were installed but do not import; see: .venv/bin/python -c 'import torch, numpy, sklearn'"
}

pip_install() {
  .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet torch numpy scikit-learn
}

install_packages
make_venv
