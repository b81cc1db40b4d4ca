#!/bin/sh
# A worker: asks, runs what was asked for on a program that speaks the language of docs/own-system.md, and tells, until there
# is nothing left to ask for. Start as many as you like.
#
#     lake.sh RUN COMMAND...
#
# As in  lake.sh RUN python3 examples/systems/gymnasium_server.py FrozenLake-v1 success_rate=0.55
set -eu
run=$1
shift
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
while alidade ask "$run" -n 8 --worker "lake-$$" --json > "$scratch/asked.json" && ! grep -q '"ended"' "$scratch/asked.json"; do
    ${PYTHON:-python3} "$here/answer.py" "$scratch/asked.json" "$scratch/answers" "$@"
    for file in "$scratch"/answers/*.jsonl; do
        [ -e "$file" ] || { sleep 0.1; continue; }  # the others are at it
        alidade tell "$run" "$(basename "$file" .jsonl)" --episodes "$file" --worker "lake-$$" --quiet > "$scratch/told"
        rm "$file"
    done
done
grep -q '"ended"' "$scratch/asked.json"
