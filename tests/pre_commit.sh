#!/usr/bin/env bash
# Before a commit: lays the staged .c files out, and holds what is staged to the rules of `make
# tidy` that need no build.  `make hooks` installs it; `git commit --no-verify` passes it by.
#
# A file that has further changes which are not staged is not laid out, because staging it again
# would commit those, too: it must be laid out as it is.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

mapfile -t staged < <(git diff --cached --name-only --diff-filter=ACMR)
[ ${#staged[@]} -gt 0 ] || exit 0
for file in "${staged[@]}"; do
    if [[ $file == *.c ]] && git diff --quiet -- "$file"; then
        clang-format-16 -i "$file"
        git add -- "$file"
    fi
done
exec tests/tidy.sh "${staged[@]}"
