#!/usr/bin/env bash
# Installs the Debian packages a build needs, and those named as arguments; quick when they are there.
set -euo pipefail

packages=(
  clang-19 lld-19 libclang-rt-19-dev cmake ninja-build ccache
  libboost1.81-dev libboost-system1.81-dev libboost-url1.81-dev
  libssl-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev
  prometheus-cpp-dev libsqlite3-dev libre2-dev libjemalloc-dev libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-yaml ca-certificates
)

missing=()
for package in "${packages[@]}" "$@"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
echo "installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "could not install the packages above; Regatta builds on Debian 12 (bookworm)" >&2
  exit 1
fi
