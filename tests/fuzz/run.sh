#!/usr/bin/env bash
# Run the fuzzers given as arguments, as many at once as there are processors; ends with one line
# "N passed, N failed".
#
#   FUZZ_RUNS=n      so many inputs each, always the same ones
#   FUZZ_MINUTES=n   all of them together; what is found goes to build/fuzz-corpus/ for next time
#
# The input that fails a fuzzer is left in build/fuzz-failures/.
set -uo pipefail

processes=$(nproc)
corpus=tests/fuzz/corpus
failures=build/fuzz-failures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$failures"

# Some take up to milliseconds a run: they make files, ask for the memory that a page of rows claims
# to need, or make whole pages of HTML.
runs_of() {
    case $1 in
    commit_log | page | row_page) echo $((FUZZ_RUNS / 10)) ;;
    *) echo "$FUZZ_RUNS" ;;
    esac
}

target_of() { # PROGRAM
    local name
    name=$(basename "$1")
    echo "${name#fuzz_}"
}

fuzz() { # PROGRAM HOW-MANY: leaves its output, and says by a file that it failed
    local target common found budget
    target=$(target_of "$1")
    common=(-timeout=20 -rss_limit_mb=3000 -reload=0 "-artifact_prefix=$failures/$target-")
    if [ -n "${FUZZ_MINUTES:-}" ]; then
        found=build/fuzz-corpus/$target
        budget=("-max_total_time=$((FUZZ_MINUTES * 60 * processes / $2 + 1))")
    else
        found=$scratch/$target.found
        budget=("-runs=$(runs_of "$target")" -seed=1)
    fi
    mkdir -p "$found"
    "$1" "${common[@]}" "${budget[@]}" "$found" "$corpus/$target" >"$scratch/$target.output" 2>&1 ||
        touch "$scratch/$target.failed"
}

for program in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do
        wait -n
    done
    fuzz "$program" $# &
done
wait

passed=0
failed=0
for program in "$@"; do
    target=$(target_of "$program")
    output=$scratch/$target.output
    if [ ! -e "$scratch/$target.failed" ]; then
        passed=$((passed + 1))
        [ -z "${FUZZ_MINUTES:-}" ] || echo "$target: $(grep -E '^Done' "$output")"
    else
        failed=$((failed + 1))
        grep -vE '^#[0-9]+|NEW_FUNC' "$output" | tail -n 40
        echo "FAILED: $program"
    fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
