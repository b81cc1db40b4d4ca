#!/bin/sh
# Experiments by hand: a person with a river, a note-book and alidade.
#
#     by_hand.sh RUN COUNT     runs COUNT experiments that `alidade ask` gives out, one action at a time
#
# The river is ten places; swimming right in its right half works against a current that nobody told alidade: slack,
# moderate or strong with chances 0.2, 0.5, 0.3. Set up with
#
#     alidade problem make 'builtin:riverswim?variant=halves' -o river && rm river/truth.json
#     sed -i '/truth.json/d; /environment/d' river/problem.toml
#     alidade explore river -o RUN --system ask
set -eu
run=$1 count=$2 seed=1

swim() { # PLACE ACTION: where the swimmer is next
    awk -v place="$1" -v action="$2" -v seed="$seed" 'BEGIN {
        srand(seed); rand()
        split(".70 .95 1", slack); split(".40 .90 1", moderate); split(".20 .50 1", strong); split(".05 .20 1", left)
        u = rand(); v = rand()
        for (i = 1; i <= 2; i++)
            law[i] = 0 + (action == "left" ? left[i] : (place < 5 || u < .2) ? slack[i] : (u < .7) ? moderate[i] : strong[i])
        place += (v < law[1]) ? 1 : (v < law[2]) ? 0 : -1
        print((place < 0) ? 0 : (place > 9) ? 9 : place)
    }'
}

while [ "$count" -gt 0 ]; do
    id=$(alidade ask "$run" -n 1 --worker swimmer --again --json | sed -n 's/.*"id":\([0-9]*\),.*/\1/p')
    [ -n "$id" ] || { echo "nothing left to ask for"; exit 0; }
    place=0 step=0 states='' actions=''
    while [ "$step" -lt 12 ]; do
        action=$(alidade act "$run" "$id" --step "$step" --state "$place")
        states="$states${states:+, }$place" actions="$actions${actions:+, }\"$action\""
        seed=$((seed + 1))
        place=$(swim "$place" "$action")
        step=$((step + 1))
    done
    echo "{\"states\": [$states], \"actions\": [$actions]}" > "$run/note.jsonl"
    alidade tell "$run" "$id" --episodes "$run/note.jsonl" --worker swimmer
    count=$((count - 1))
done
