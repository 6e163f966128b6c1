#!/usr/bin/env bash
# Brings up the docker-compose command for tests, from nothing where it may (root on Debian or Ubuntu).
# Exit: 0 there, 3 it can't be had here.
set -euo pipefail
. "$(dirname "$0")/install.sh"

command -v docker-compose >/dev/null || apt_install docker-compose
