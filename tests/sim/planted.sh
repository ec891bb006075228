#!/usr/bin/env bash
# The tests must find bugs that are planted into a copy of the sources, one at a time.
#
# A patch calls a file by a name that tests/sim/planted/paths gives a path: where files move, that
# list changes, and no patch.
#
#   tests/sim/planted.sh check        do the patches in tests/sim/planted/ still apply?
#   tests/sim/planted.sh run [NAME]   build with each, run the tests, and print what found it, and
#                                     where; first the one that README.md says found it last
#
# Ends with one line "N passed, N failed": a bug that is found is a pass.
set -uo pipefail
cd "$(dirname "$0")/../.."

here=tests/sim/planted
programs=(sim/test_voids sim/test_exhaustive_crash sim/test_history_crash sim/test_clients_crash
    sim/test_stream_crash sim/test_engine_crash sim/test_commit_log_crash sim/test_backup
    sim/test_backup_following sim/test_backup_purge sim/test_compaction sim/test_failed_reads
    sim/test_full_disk)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The patch with the paths that its names stand for.
with_paths() { # PATCH
    awk 'NR == FNR { path[$1] = $2; next }
         /^(---|\+\+\+) [ab]\// {
             name = substr($2, 3)
             if (index(name, "/") > 0) path[name] = name
             if (!(name in path)) { print FILENAME ": no path for " name >"/dev/stderr"; exit 1 }
             $2 = substr($2, 1, 2) path[name]
         }
         { print }' "$here/paths" "$1"
}

apply() { # PATCH OPTIONS...
    with_paths "$1" | patch --strip=1 --fuzz=0 --silent --forward "${@:2}"
}

# The programs, that which found it last before the others.
programs_for() { # NAME
    local last
    last=$(sed -n "s/^| \`$1\` |.*| \([a-z]*\/\)\?\(test_[a-z_]*\) |.*/\2/p" "$here/README.md")
    printf '%s\n' "${programs[@]}" | awk -v last="$last" '
        $0 ~ "/" last "$" { first = $0; next } { rest = rest $0 "\n" }
        END { if (first == "" && last != "") first = "unit/" last
              if (first != "") print first
              printf "%s", rest }'
}

# A copy of the tree with its objects, so that only what is patched is compiled again.
copy_tree() {
    local to=$1
    mkdir -p "$to/build"
    tar --create --exclude=./build --exclude=./.git . | tar --extract --directory="$to"
    cp --archive build/release-gcc "$to/build/"
}

# What shows it again: the test, or what a simulation of crashes printed, and the moment.
seed_of() { # LOG PROGRAM
    local crash where
    where=$(sed -n 's/^\[FAIL\] [a-z_]*::\([a-z_]*\).*/\1/p' "$1" | head -n 1)
    case $2 in *_crash) ;; *) echo "$where" && return ;; esac
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
        cd "$tree" && apply "$here/$name.patch" || exit 1
        for program in $(programs_for "$name"); do
            make --no-print-directory -j2 "build/release-gcc/tests/$program" \
                >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
            timeout 600 env SIM_HISTORIES=40 SIM_CLIENTS=20 SIM_STREAMS=20 SIM_RESTORES=40 \
                "build/release-gcc/tests/$program" >"$scratch/log" 2>&1 && continue
            echo "found: $name: ${program#*/}, $(seed_of "$scratch/log" "$program")"
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
