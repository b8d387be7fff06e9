#!/bin/sh
# cmake/ccache.sh SOURCE_DIR CCACHE COMPILER ARGUMENT...
#
# Compiles with a cache that all checkouts of the project share: nothing that it compares depends on
# where a checkout lies. A precompiled header does, as it holds the absolute paths of what it was
# made of. So a sum of their texts lies beside it, and ccache compares that.
set -eu
source=$1
shift
export CCACHE_BASEDIR="$source" CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
case " $* " in
  *" -emit-pch "*) ;;
  *) exec "$@" ;;
esac

"$@"
header='' depends='' before=''
for argument in "$@"; do
  case $before in
    -o) header=$argument ;;
    -MF) depends=$argument ;;
  esac
  before=$argument
done
# The list of dependencies is "target: a b \" and more such lines.
read=$(sed -e 's/^[^ ]*: *//' -e 's/\\$//' "$depends")
# Without a sum, ccache compares the precompiled header.
rm -f "$header.sum"
# shellcheck disable=SC2086  # a list
if cat $read > "$header.texts" 2>/dev/null; then
  { echo "$@" && cat "$header.texts"; } | sed "s|$source/||g" | sha256sum > "$header.sum"
fi
rm "$header.texts"
