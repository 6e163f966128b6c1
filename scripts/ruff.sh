#!/usr/bin/env bash
# Makes sure that there is a ruff, the linter of the Python here, at its pinned version in .cache/ruff.
# Exit: 0 it is there, 3 it can't be had here (REQUIRE_RUFF=1, which CI sets, makes that 1).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/install.sh

required=${REQUIRE_RUFF:-}
VERSION=0.17.6
place=$PWD/.cache/ruff
case $("$place/bin/ruff" --version 2>/dev/null) in "ruff $VERSION") exit ;; esac
python3 -c 'import venv, ensurepip' 2>/dev/null || apt_install python3 python3-venv
say "fetching ruff $VERSION"
rm -rf "$place"
python3 -m venv "$place" && "$place/bin/pip" install --quiet --disable-pip-version-check "ruff==$VERSION" >/dev/null 2>&1 ||
  unavailable "ruff $VERSION could not be fetched"
