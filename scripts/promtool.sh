#!/usr/bin/env bash
# Makes sure that there is a promtool, which checks alert rules: unpacks Debian's beside the dependencies, since installing
# its package would start a server. Prints its path.
# Exit: 0 it is there, 3 it can't be had here (REQUIRE_PROMTOOL=1, which CI sets, makes that 1).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/install.sh

required=${REQUIRE_PROMTOOL:-}
place=$PWD/.cache/promtool
command -v promtool && exit
if [ ! -x "$place/usr/bin/promtool" ]; then
  may_install || unavailable 'promtool is not installed, and only root on Debian or Ubuntu can fetch it'
  say 'fetching promtool'
  fetched=$(mktemp -d)
  trap 'rm -rf "$fetched"' EXIT
  fetch() { (cd "$fetched" && apt-get download -qq prometheus >/dev/null 2>&1); }
  fetch || { apt-get update -qq >/dev/null || true; fetch; } || unavailable 'prometheus could not be fetched'
  mkdir -p "$place"
  dpkg-deb --fsys-tarfile "$fetched"/prometheus_*.deb | tar -x -C "$place" ./usr/bin/promtool
fi
echo "$place/usr/bin/promtool"
