#!/usr/bin/env bash
# Makes sure that there is a Chromium for tests of pages: installs Debian's where it may (root on Debian or Ubuntu).
# Prints its path. Exit: 0 it is there, 3 it can't be had here (REQUIRE_BROWSER=1, which CI sets, makes that 1).
set -euo pipefail
. "$(dirname "$0")/install.sh"

required=${REQUIRE_BROWSER:-}
command -v chromium >/dev/null || apt_install chromium
command -v chromium
