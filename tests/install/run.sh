#!/usr/bin/env bash
# Installs a build into an empty prefix and uses it from a project outside: run.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/dev}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"

# A header that no module lists is neither installed nor checked for standing alone.
headers() { (cd "$1" && find alidade -name '*.hpp' | sort); }
if ! diff <(headers "$here/../../include") <(headers "$scratch/prefix/include"); then
    echo "Installed headers differ from include/ (< not installed): list them in alidade_module()." >&2
    exit 1
fi

cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$scratch/prefix" >"$scratch/configure.log" || {
    cat "$scratch/configure.log" >&2
    exit 1
}
cmake --build "$scratch/build"
"$scratch/build/outside"
if [[ -x $scratch/prefix/bin/alidade ]]; then
    "$scratch/prefix/bin/alidade" --version
fi
