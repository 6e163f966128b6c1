# Sourced by the scripts that bring up what tests need: how they speak, give up and install.
# With required=1 what can't be had is an error (exit 1), else a reason to skip tests (exit 3).

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

unavailable() {
  say "$*"
  if [ "${required:-}" = 1 ]; then exit 1; fi
  exit 3
}

may_install() { [ "$(id -u)" = 0 ] && [ -r /etc/debian_version ] && command -v apt-get >/dev/null; }

# Lists of packages are fetched only where those that are there don't do. Gives up where it may not install, or can't.
apt_install() {
  may_install || unavailable "$* is not installed, and only root on Debian or Ubuntu can install it"
  say "installing $*"
  local install=(apt-get install -qq -o=Dpkg::Use-Pty=0 -y --no-install-recommends)
  export DEBIAN_FRONTEND=noninteractive
  "${install[@]}" "$@" >/dev/null 2>&1 && return
  apt-get update -qq >/dev/null || true
  "${install[@]}" "$@" >/dev/null || unavailable "$* could not be installed"
}
