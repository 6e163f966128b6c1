#!/bin/sh
# Builds llguidance.wasm beside this file, from the crates that Cargo.lock names, and writes its hash.
# Needs cargo and `rustup target add wasm32-unknown-unknown`. An argument is the folder to write into.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
target=${CARGO_TARGET_DIR:-$here/target}
# No path of this machine goes into the artefact.
RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$here=/llguidance"
export RUSTFLAGS
cargo build --locked --release --target wasm32-unknown-unknown --manifest-path "$here/Cargo.toml" --target-dir "$target"
cp "$target/wasm32-unknown-unknown/release/slipway_llguidance.wasm" "$out/llguidance.wasm"
(cd "$out" && sha256sum llguidance.wasm >llguidance.wasm.sha256)
