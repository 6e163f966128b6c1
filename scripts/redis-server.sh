#!/usr/bin/env bash
# Makes sure that there is a redis-server for tests: installs Debian's where it may (root on Debian or Ubuntu).
# Prints its path. Exit: 0 it is there, 3 it can't be had here (REQUIRE_DOCKER=1, which CI sets, makes that 1).
set -euo pipefail
. "$(dirname "$0")/install.sh"

required=${REQUIRE_DOCKER:-}
if ! command -v redis-server >/dev/null; then
  # Tests start their own: one that the package starts would stay behind.
  policy=/usr/sbin/policy-rc.d
  if may_install && [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  fi
  apt_install redis-server
fi
command -v redis-server
