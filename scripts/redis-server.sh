#!/usr/bin/env bash
# Makes sure that there is a redis-server for tests: installs Debian's where it may (root on Debian or Ubuntu).
# Prints its path. Exit: 0 it is there, 3 it can't be had here (REQUIRE_DOCKER=1, which CI sets, makes that 1).
set -euo pipefail

say() { printf 'redis-server: %s\n' "$*" >&2; }

unavailable() {
  say "$*"
  if [ "${REQUIRE_DOCKER:-}" = 1 ]; then exit 1; fi
  exit 3
}

may_install() { [ "$(id -u)" = 0 ] && [ -r /etc/debian_version ] && command -v apt-get >/dev/null; }

apt_install() {
  local quiet=(-qq -o=Dpkg::Use-Pty=0)
  # Tests start their own: one that the package starts would stay behind.
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  DEBIAN_FRONTEND=noninteractive apt-get install "${quiet[@]}" -y --no-install-recommends "$@" >/dev/null 2>&1 && return
  apt-get update -qq >/dev/null 2>&1 || return
  DEBIAN_FRONTEND=noninteractive apt-get install "${quiet[@]}" -y --no-install-recommends "$@" >/dev/null 2>&1
}

if ! command -v redis-server >/dev/null; then
  may_install || unavailable 'it is not installed, and only root on Debian can install it'
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then policy=$(mktemp); fi
  trap 'rm -f "$policy"' EXIT
  say 'installing it'
  apt_install redis-server || unavailable 'it could not be installed'
fi
command -v redis-server
