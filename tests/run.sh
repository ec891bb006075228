#!/usr/bin/env bash
# Run the Criterion programs given as arguments one after the other; end with one line
#   N passed, N failed
# and failure if any failed.  Output of a program is shown only where something failed.
set -uo pipefail

passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

for program in "$@"; do
    "$program" --color=never >"$output" 2>&1
    code=$?
    # [====] Synthesis: Tested: 7 | Passing: 6 | Failing: 1 | Crashing: 0
    line=$(grep 'Synthesis:' "$output" | tail -n 1)
    good=$(sed -n 's/.*Passing: \([0-9]*\).*/\1/p' <<<"$line")
    tested=$(sed -n 's/.*Tested: \([0-9]*\).*/\1/p' <<<"$line")
    good=${good:-0}
    bad=$((${tested:-0} - good))
    if [ $code -ne 0 ] && [ $bad -eq 0 ]; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    if [ $bad -ne 0 ]; then
        cat "$output"
        echo "FAILED: $program"
    fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
