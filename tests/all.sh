#!/usr/bin/env bash
# The whole test, in two lanes side by side: one builds and tries what is shipped, the other the
# same with sanitizers, and the fuzzers.  In a lane one step follows the other; where it waits for
# a disk, a clock or a last long test, the other lane has the processors.
#
# Every step runs even where one before it failed, and what it says is shown when it has ended.
# With SANITIZED_SERVER=1 the server with sanitizers is tried from outside as well, for a minute.
#
# Ends with how long each took, how much of that a processor worked, and one line
#   N passed, N failed
# A step that breaks without counting a failure (a build error) counts as one.
set -uom pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
lanes=()

# Each lane is a process group, which ends with all that it started.
clean() {
    [ ${#lanes[@]} -eq 0 ] || kill -- "${lanes[@]/#/-}" 2>/dev/null
    rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 130' INT TERM

# The number before a word in the last line of counts: "7 passed, 0 failed" or pytest's line.
count_of() { # WORD OUTPUT
    grep -E '^[0-9]+ (passed|failed|errors?|skipped)\b' "$2" | tail -n 1 |
        grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo 0
}

step() { # TITLE COMMAND...
    local title=$1 output code good bad seconds TIMEFORMAT='%R %U %S'
    output=$(mktemp "$scratch/output.XXXXXX")
    echo "-- $title"
    seconds=$({ time "${@:2}" >"$output" 2>&1; } 2>&1)
    code=$?
    good=$(count_of passed "$output")
    bad=$(($(count_of failed "$output") + $(count_of errors? "$output")))
    if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    flock "$scratch" cat <(echo "== $title") "$output"
    awk -v counts="$good $bad" -v title="$title" \
        '{ printf "%s %5d s, worked %5d s  %s\n", counts, $1, $2 + $3, title }' \
        <<<"$seconds" >>"$scratch/steps"
}

make=(make --no-print-directory -j2)

shipped() {
    step "build"             "${make[@]}" all
    step "build tests"       "${make[@]}" test-build
    step "unit"              make --no-print-directory test-unit
    step "simulation"        env SIM_HISTORIES=16 SIM_CLIENTS=14 SIM_LENGTH=2 SIM_STREAMS=6 \
        make --no-print-directory test-sim
    step "planted bugs apply" tests/sim/planted.sh check
    step "tidy"              make --no-print-directory tidy
    step "end to end"        make --no-print-directory test-e2e
    step "page"              make --no-print-directory test-page MARK=quick
}

watched() {
    # As the fuzzers want it, who are linked to it.
    step "build (clang)"           "${make[@]}" CC=clang BUILD=fuzz all
    step "fuzz"                    make --no-print-directory test-fuzz
    step "build tests (sanitized)" "${make[@]}" BUILD=asan test-build
    step "unit (sanitized)"        make --no-print-directory BUILD=asan test-unit
    [ -z "${SANITIZED_SERVER:-}" ] ||
        step "server (sanitized)"  make --no-print-directory test-sanitized
    # Of the short histories one in three: without a sanitizer all of them are gone through, and
    # each letter is in some of these.
    step "simulation (sanitized)"  env SIM_HISTORIES=1 SIM_STREAMS=1 SIM_VOIDS=6 SIM_PART=3 \
        make --no-print-directory BUILD=asan test-sim
}

shipped </dev/null &
lanes+=($!)
watched </dev/null &
lanes+=($!)
wait
lanes=()

echo "== $SECONDS seconds"
cut -d ' ' -f 3- "$scratch/steps"
read -r passed failed < <(awk '{ good += $1; bad += $2 } END { print good + 0, bad + 0 }' \
    "$scratch/steps")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
