#!/usr/bin/env bash
# The whole test: every step runs even where one before it failed; ends with how long each took
# and one line
#   N passed, N failed
# A step that breaks without counting a failure (a build error) counts as one.
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0
failed=0
times=()
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# The number before a word in the last line of counts: "7 passed, 0 failed" or pytest's line.
count_of() {
    grep -E '^[0-9]+ (passed|failed|errors?|skipped)\b' "$output" | tail -n 1 |
        grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo 0
}

step() {
    local title=$1 code good bad begun=$SECONDS
    shift
    echo "== $title"
    "$@" 2>&1 | tee "$output"
    code=${PIPESTATUS[0]}
    times+=("$(printf '%5d s  %s' $((SECONDS - begun)) "$title")")
    good=$(count_of passed)
    bad=$(($(count_of failed) + $(count_of errors?)))
    if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

# One step after the other; within a step two things are done at once.
make=(make --no-print-directory -j2)
step "build"                   "${make[@]}" all
# As the fuzzers want it, who are linked to it.
step "build (clang)"           "${make[@]}" CC=clang BUILD=fuzz all
step "build tests"             "${make[@]}" test-build
step "unit"                    make --no-print-directory test-unit
step "simulation"              env SIM_HISTORIES=25 SIM_CLIENTS=20 SIM_LENGTH=2 SIM_STREAMS=6 \
    make --no-print-directory test-sim
step "planted bugs apply"      tests/sim/planted.sh check
step "tidy"                    make --no-print-directory tidy
step "build tests (sanitized)" "${make[@]}" BUILD=asan test-build
step "unit (sanitized)"        make --no-print-directory BUILD=asan test-unit
step "simulation (sanitized)"  env SIM_HISTORIES=4 SIM_STREAMS=1 \
    make --no-print-directory BUILD=asan test-sim
step "fuzz"                    make --no-print-directory test-fuzz
if compgen -G 'tests/e2e/test_*.py' >/dev/null; then
    step "end to end" make --no-print-directory test-e2e
fi

echo "== $SECONDS seconds"
printf '%s\n' "${times[@]}"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
