#!/usr/bin/env bash
# The simulation must find bugs that are planted into a copy of the sources, one at a time.
#
#   tests/sim/planted.sh check        do the patches in tests/sim/planted/ still apply?
#   tests/sim/planted.sh run [NAME]   build with each, simulate, and print what found it, and where
#
# Ends with one line "N passed, N failed": a bug that is found is a pass.
set -uo pipefail
cd "$(dirname "$0")/../.."

here=tests/sim/planted
programs=(voids exhaustive_crash history_crash clients_crash stream_crash engine_crash
    commit_log_crash backup backup_following)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

apply() { # PATCH OPTIONS...
    patch --strip=1 --fuzz=0 --silent --forward "${@:2}" <"$1"
}

# A copy of the tree with its objects, so that only what is patched is compiled again.
copy_tree() {
    local to=$1
    mkdir -p "$to/build"
    tar --create --exclude=./build --exclude=./.git . | tar --extract --directory="$to"
    cp --archive build/release-gcc "$to/build/"
}

# What a failed simulation printed: the words that show it again, and the moment.
seed_of() {
    local crash where
    crash=$(grep -oE 'moment [0-9]+ (crash|seed) [0-9]+|seed [0-9]+ crash [0-9]+' "$1" | head -n 1)
    where=$(grep -oE 'SIM_WORD=[a-z]+:[0-9]+' "$1" | tail -n 1)
    [ -n "$where" ] || where=$(grep -oE 'SIM_SEED=[0-9]+' "$1" | tail -n 1)
    [ -n "$where" ] || where=$(grep -oE 'call [0-9]+, seed [0-9]+' "$1" | head -n 1)
    echo "$where${crash:+, $crash}"
}

plant() { # NAME: prints what found it; fails if nothing did
    local name=$1 tree=$scratch/$1 program
    copy_tree "$tree"
    (
        cd "$tree" && apply "$OLDPWD/$here/$name.patch" || exit 1
        for program in "${programs[@]}"; do
            make --no-print-directory -j2 "build/release-gcc/tests/sim/test_$program" \
                >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
            timeout 600 env SIM_HISTORIES=40 SIM_CLIENTS=20 SIM_STREAMS=20 \
                "build/release-gcc/tests/sim/test_$program" >"$scratch/log" 2>&1 && continue
            echo "found: $name: test_$program, $(seed_of "$scratch/log")"
            exit 0
        done
        exit 1
    ) && return 0
    echo "NOT FOUND: $name"
    return 1
}

passed=0
failed=0
for file in "$here"/*.patch; do
    name=$(basename "$file" .patch)
    case ${1:-run} in
    check) apply "$file" --dry-run >"$scratch/log" || { echo "does not apply: $file"; false; } ;;
    run) [ -z "${2:-}" ] || [ "$2" = "$name" ] || continue
        plant "$name" ;;
    esac && passed=$((passed + 1)) || failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
