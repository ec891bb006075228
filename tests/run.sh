#!/usr/bin/env bash
# Run the Criterion programs given as arguments, as many at once as there are processors (PROCESSES
# says otherwise); end with those that took longest, where there are many, and one line
#   N passed, N failed
# and failure if any failed.  Output of a program is shown only where something failed, but for the
# lines that count simulated crashes.
#
# A program's tests run one after the other, so that a program of few long ones does not leave a
# processor idle while the others wait for it.
#
# Criterion does not count a test that the leak sanitizer complains about, since each test is a
# process of its own that ends after the result is known; such complaints are counted here.  Those
# without a line of ours in them are Criterion's own leaks.
set -uo pipefail

# The address sanitizer clears the shadow of a large block by unmapping it, which costs a fault for
# each of its pages when it is used again, and keeps thirty callers of each allocation.  Neither
# finds anything; without them a simulation takes a third less.
export ASAN_OPTIONS=${ASAN_OPTIONS-clear_shadow_mmap_threshold=67108864:malloc_context_size=10}

processes=${PROCESSES:-$(nproc)}
shown=5
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

leaks_of_ours() {
    awk '/ERROR: LeakSanitizer/ { inside = 1; ours = 0 }
         inside && /^ +#[0-9]+ .* in .* [a-z][a-z_\/]*\.c:[0-9]+/ { ours = 1 }
         /^SUMMARY:/ { if (inside && ours) count++; inside = 0 }
         END { print count + 0 }' "$1"
}

# Criterion waits for ever when the message of a test that ended is lost, and a test may wait for a
# lock that was taken when it was forked (tests/lib/quiet_fork.c).  Both are seen on a busy machine.
# So who does nothing for half a minute is ended, and run again; a test that waits for ever does so
# again.
still_rounds=6
look_seconds=${LOOK_SECONDS:-5}

# A test that spins never stands still.  What has had this much of a processor is ended, and not run
# again; the longest that there is takes a few minutes with sanitizers.
spin_seconds=${SPIN_SECONDS:-$((900 + ${SIM_SECONDS:-0}))}

end_when_spinning() { # PID: its tests, each a process of its own
    local process ticks
    for process in $(pgrep --parent "$1"); do
        ticks=$(sed 's/.*) //' "/proc/$process/stat" 2>/dev/null | awk '{ print $12 + $13 }')
        [ "${ticks:-0}" -gt $((spin_seconds * $(getconf CLK_TCK))) ] || continue
        kill -KILL "$process"
        echo "a test was ended: it took $spin_seconds s of a processor, as one that spins does" \
            >>"$2.ended"
    done
}

progress_of() { # PID: what changes as long as it or a test of it works
    local children
    children=$(pgrep --parent "$1")
    echo $children
    for process in $1 $children; do
        sed 's/.*) //' "/proc/$process/stat" 2>/dev/null
    done | awk '{ ticks += $12 + $13 } END { print ticks }'
}

end_when_stuck() { # PID OUTPUT
    local still=0 before='' now
    while [ $still -lt $still_rounds ]; do
        sleep "$look_seconds"
        end_when_spinning "$1" "$2"
        now=$(progress_of "$1")
        if [ "$now" = "$before" ]; then still=$((still + 1)); else still=0; fi
        before=$now
    done
    kill -KILL "$1" $(pgrep --parent "$1")
}

run_once() { # PROGRAM OUTPUT
    local program watch code
    "$1" --jobs=1 --color=never >"$2" 2>&1 &
    program=$!
    end_when_stuck $program "$2" >/dev/null 2>&1 &
    watch=$!
    wait $program
    code=$?
    kill $watch 2>/dev/null
    return $code
}

run() { # PROGRAM: leaves its output, status and seconds
    local kept TIMEFORMAT='%R' code=137 tries=0
    kept=$directory/$(basename "$1")
    {
        time while [ $code -eq 137 ] && [ $tries -lt 3 ]; do
            run_once "$1" "$kept.output"
            code=$?
            tries=$((tries + 1))
        done
    } 2>"$kept.seconds"
    echo $code >"$kept.status"
}

for program in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do
        wait -n
    done
    run "$program" &
done
wait

passed=0
failed=0
for program in "$@"; do
    kept=$directory/$(basename "$program")
    output=$kept.output
    # [====] Synthesis: Tested: 7 | Passing: 6 | Failing: 1 | Crashing: 0
    line=$(grep 'Synthesis:' "$output" | tail -n 1)
    good=$(sed -n 's/.*Passing: \([0-9]*\).*/\1/p' <<<"$line")
    tested=$(sed -n 's/.*Tested: \([0-9]*\).*/\1/p' <<<"$line")
    good=${good:-0}
    bad=$((${tested:-0} - good))
    leaks=$(leaks_of_ours "$output")
    if [ "$bad" -eq 0 ] && [ "$leaks" -gt 0 ]; then
        bad=$leaks
        good=$((good - leaks))
    elif [ "$bad" -eq 0 ] && [ "$(cat "$kept.status")" != 0 ] &&
        ! grep -q LeakSanitizer "$output"; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    grep -E '^[a-z_]+: .*[0-9]+ distinct crashes' "$output"
    if [ "$bad" -ne 0 ]; then
        cat "$output" "$output.ended" 2>/dev/null
        echo "FAILED: $program"
    fi
done

if [ $# -gt $shown ]; then
    echo "slowest: $(for program in "$@"; do
        kept=$directory/$(basename "$program")
        echo "$(cat "$kept.seconds") $(basename "$program")"
    done | sort -rn | head -n $shown | awk '{ printf "%s%s %d s", (NR > 1 ? ", " : ""), $2, $1 }')"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
