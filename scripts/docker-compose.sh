#!/usr/bin/env bash
# Brings up the docker-compose command for tests, from nothing where it may (root on Debian or Ubuntu).
# Exit: 0 there, 3 it can't be had here.
set -euo pipefail

command -v docker-compose >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || [ ! -r /etc/debian_version ]; then
  echo 'docker-compose is not installed, and only root on Debian can install it' >&2
  exit 3
fi
quiet=(-qq -o=Dpkg::Use-Pty=0)
export DEBIAN_FRONTEND=noninteractive
apt-get install "${quiet[@]}" -y --no-install-recommends docker-compose >/dev/null 2>&1 && exit 0
apt-get update -qq >/dev/null
apt-get install "${quiet[@]}" -y --no-install-recommends docker-compose >/dev/null || exit 3
