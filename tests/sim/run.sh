#!/usr/bin/env bash
# Run the simulations given as arguments, two at once, and those that share their work as two
# processes; end with how many crashes were simulated and one line
#   N passed, N failed
# where a process that takes a share counts as one.  What the programs are told by the environment
# is in the comments at their heads; with SIM_PART=n only every n-th of the short
# histories is gone through.
set -uo pipefail

shares=2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

start() { # NAME COMMAND...
    while [ "$(jobs -rp | wc -l)" -ge $shares ]; do
        wait -n
    done
    "${@:2}" >"$directory/$1" &
}

# The long ones first, so that at the end no processor waits for the other.
long=()
alone=()
for program in "$@"; do
    name=$(basename "$program")
    case $name in
    *_history_crash | *_exhaustive_crash | *_clients_crash | *_stream_crash)
        for ((share = 0; share < shares; share++)); do
            start "$name.$share" env SIM_STRIDE=$((shares * ${SIM_PART:-1})) \
                SIM_SEED=$((${SIM_SEED:-1} + share)) tests/run.sh "$program"
        done
        ;;
    *_nth_failure | *_damage | *_engine_crash) long+=("$program") ;;
    *) alone+=("$program") ;;
    esac
done
for program in ${long[@]+"${long[@]}"} ${alone[@]+"${alone[@]}"}; do
    start "$(basename "$program")" tests/run.sh "$program"
done
wait

grep -hvE '^[0-9]+ passed, [0-9]+ failed$' "$directory"/*
grep -hoE '[0-9]+ distinct crashes' "$directory"/* |
    awk '{ sum += $1 } END { print "simulated crashes: " sum + 0 ", no two of a history alike" }'
grep -hE '^[0-9]+ passed, [0-9]+ failed$' "$directory"/* |
    awk '{ good += $1; bad += $3 }
         END { print good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }'
