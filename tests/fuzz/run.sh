#!/usr/bin/env bash
# Run the fuzzers given as arguments; ends with one line "N passed, N failed".
#
#   FUZZ_RUNS=n      so many inputs each, always the same ones
#   FUZZ_MINUTES=n   all of them together; what is found goes to build/fuzz-corpus/ for next time
#
# The input that fails a fuzzer is left in build/fuzz-failures/.
set -uo pipefail

passed=0
failed=0
corpus=tests/fuzz/corpus
failures=build/fuzz-failures
output=$(mktemp)
scratch=$(mktemp -d)
trap 'rm -rf "$output" "$scratch"' EXIT
mkdir -p "$failures"

# Some take milliseconds a run: they make files, or ask for the memory that a page claims to need.
runs_of() {
    case $1 in
    commit_log | narrow_page) echo $((FUZZ_RUNS / 10)) ;;
    *) echo "$FUZZ_RUNS" ;;
    esac
}

for program in "$@"; do
    target=$(basename "$program")
    target=${target#fuzz_}
    common=(-timeout=20 -rss_limit_mb=3000 -reload=0 "-artifact_prefix=$failures/$target-")
    if [ -n "${FUZZ_MINUTES:-}" ]; then
        found=build/fuzz-corpus/$target
        budget=("-max_total_time=$((FUZZ_MINUTES * 60 / $# + 1))")
    else
        found=$scratch/$target
        budget=("-runs=$(runs_of "$target")" -seed=1)
    fi
    mkdir -p "$found"
    if "$program" "${common[@]}" "${budget[@]}" "$found" "$corpus/$target" >"$output" 2>&1; then
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
