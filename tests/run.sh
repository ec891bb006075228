#!/usr/bin/env bash
# Run the Criterion programs given as arguments one after the other; end with one line
#   N passed, N failed
# and failure if any failed.  Output of a program is shown only where something failed, but for the
# lines that count simulated crashes.
#
# Criterion does not count a test that the leak sanitizer complains about, since each test is a
# process of its own that ends after the result is known; such complaints are counted here.  Those
# without a line of ours in them are Criterion's own leaks.
set -uo pipefail

passed=0
failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

leaks_of_ours() {
    awk '/ERROR: LeakSanitizer/ { inside = 1; ours = 0 }
         inside && /^ +#[0-9]+ .* in .* [a-z][a-z_\/]*\.c:[0-9]+/ { ours = 1 }
         /^SUMMARY:/ { if (inside && ours) count++; inside = 0 }
         END { print count + 0 }' "$output"
}

for program in "$@"; do
    "$program" --color=never >"$output" 2>&1
    code=$?
    # [====] Synthesis: Tested: 7 | Passing: 6 | Failing: 1 | Crashing: 0
    line=$(grep 'Synthesis:' "$output" | tail -n 1)
    good=$(sed -n 's/.*Passing: \([0-9]*\).*/\1/p' <<<"$line")
    tested=$(sed -n 's/.*Tested: \([0-9]*\).*/\1/p' <<<"$line")
    good=${good:-0}
    bad=$((${tested:-0} - good))
    leaks=$(leaks_of_ours)
    if [ "$bad" -eq 0 ] && [ "$leaks" -gt 0 ]; then
        bad=$leaks
        good=$((good - leaks))
    elif [ "$bad" -eq 0 ] && [ $code -ne 0 ] && ! grep -q LeakSanitizer "$output"; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    grep -E '^[a-z_]+: .*[0-9]+ distinct crashes' "$output"
    if [ "$bad" -ne 0 ]; then
        cat "$output"
        echo "FAILED: $program"
    fi
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
