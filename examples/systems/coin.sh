#!/bin/sh
# A system in shell: a lamp (state 1 is on) with a worn switch. Action 1 presses it, which works in 3 of 4 cases.
# Requests are short and always written alike, so that cutting them apart is enough.
# It has no seeds: every attempt is an experiment of its own, and alidade never runs one again.
while read -r line; do
    case $line in
    *'"op":"info"'*) echo '{"protocol": 1, "states": 2, "actions": 2}' ;;
    *'"op":"reset"'*)
        episode=${line#*\"episode\":}
        lamp=0
        echo "{\"episode\": ${episode%%,*}, \"state\": $lamp}"
        ;;
    *'"op":"step"'*)
        step=${line#*\"step\":} action=${line#*\"action\":}
        chance=$(od -An -N1 -tu1 /dev/urandom)
        if [ "${action%\}}" = 1 ] && [ "$chance" -lt 192 ]; then lamp=$((1 - lamp)); fi
        echo "{\"step\": ${step%%,*}, \"state\": $lamp}"
        ;;
    *) echo '{"error": "unknown request"}' ;;
    esac
done
