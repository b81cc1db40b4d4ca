#!/usr/bin/env bash
# Installs a build into empty prefixes, whole and by parts, and uses it from projects outside: run.sh BUILD_FOLDER
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

configure() { # SOURCE PREFIX BUILD [OPTION...]
    cmake -S "$1" -B "$3" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$2" "${@:4}"
}
use() { # SOURCE PREFIX BUILD [OPTION...]
    configure "$@" >"$scratch/configure.log" 2>&1 || {
        cat "$scratch/configure.log" >&2
        exit 1
    }
    cmake --build "$3"
    "$3/outside"
}

use "$here" "$scratch/prefix" "$scratch/build"
"$scratch/build/store"
if [[ -x $scratch/prefix/bin/alidade ]]; then
    "$scratch/prefix/bin/alidade" --version
fi

# The core by itself, where nothing is found that only files and runs need.
cmake --install "$build" --prefix "$scratch/core" --component core >"$scratch/install_core.log"
without=()
for package in nlohmann_json LibArchive tomlplusplus SQLite3; do
    without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
use "$here/core" "$scratch/core" "$scratch/build_core" "${without[@]}"
if configure "$here" "$scratch/core" "$scratch/build_all" >"$scratch/configure_all.log" 2>&1; then
    echo "A project that asks for everything found it where only the core is installed." >&2
    exit 1
fi
