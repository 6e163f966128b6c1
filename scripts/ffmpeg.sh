#!/usr/bin/env bash
# Makes sure that there is an ffmpeg for tests of sound and video: installs Debian's where it may (root on Debian or Ubuntu).
# Prints its path. Exit: 0 it is there, 3 it can't be had here (REQUIRE_FFMPEG=1, which CI sets, makes that 1).
set -euo pipefail
. "$(dirname "$0")/install.sh"

required=${REQUIRE_FFMPEG:-}
command -v ffmpeg >/dev/null || apt_install ffmpeg
command -v ffmpeg
