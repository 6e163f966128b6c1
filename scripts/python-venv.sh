#!/usr/bin/env bash
# Makes sure that Python can make environments of its own, for the published clients: installs Debian's where it may.
# Exit: 0 it can, 3 it can't be had here (REQUIRE_CLIENTS=1, which CI sets, makes that 1).
set -euo pipefail
. "$(dirname "$0")/install.sh"

required=${REQUIRE_CLIENTS:-}
python3 -c 'import venv, ensurepip' 2>/dev/null || apt_install python3 python3-venv
