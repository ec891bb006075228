#!/usr/bin/env bash
# Rules of the code that no compiler checks; ends with one line "N passed, N failed".
#
#   tests/tidy.sh            all of them, on all files
#   tests/tidy.sh FILE...    what breaks a rule in these files, by the rules that need no build
#
# Each rule is a function that prints what breaks it, as file:line: text; silence is a pass.  They
# run side by side.
set -uo pipefail
cd "$(dirname "$0")/.."

mapfile -t product < <(sed 's/#.*//; s/:.*//; /^$/d' tests/folders)
objects=build/release-gcc
chosen=("$@")

# Vendor headers and the adapters that may include them.
vendor_owner() {
    case $1 in
    uv.h)
        echo '^base/world/(world|network|loop)_uv\.c$'
        ;;
    gmp.h) echo '^base/(bigint|decimal)\.c$' ;;
    zstd.h) echo '_zstd\.c$|^base/(de)?compressor\.c$' ;;
    uuid.h | uuid/uuid.h) echo '/uuid[a-z_]*\.c$' ;;
    xxhash.h | xxh_x86dispatch.h) echo '^base/hash(64|128)\.c$' ;;
    zlib.h) echo '^(ingest|storage)/|^codec/native_crc\.c$' ;;
    lz4.h | snappy-c.h) echo '^codec/native_compress\.c$' ;;
    ini.h) echo '^program/control/config_file\.c$' ;;
    llhttp/*) echo '^door/http_request\.c$' ;;
    expat.h) echo '^query/model/storage_conf\.c$' ;;
    crypt.h) echo '^query/native/native_password\.c$' ;;
    yajl/*) echo '^ingest/|^query/cql/expression/cql_json_read\.c$' ;;
    esac
}

files() { # of the product, by extensions
    local folder
    for folder in "${product[@]}"; do
        find "$folder" -maxdepth 1 -regex ".*\.\($1\)" 2>/dev/null
    done | sort | chosen_of
}

# Of the names on standard input those that were chosen: all, unless some were.
chosen_of() {
    if [ ${#chosen[@]} -eq 0 ]; then cat; else grep -xF -f <(printf '%s\n' "${chosen[@]}"); fi
}

vendor_headers() {
    local file line target owner
    while IFS=: read -r file line target; do
        owner=$(vendor_owner "$target")
        [ -n "$owner" ] && ! [[ $file =~ $owner ]] &&
            echo "$file:$line: <$target> belongs to its adapter"
    done < <(files 'c\|h' | xargs -r grep -nE '^#include <' /dev/null |
        sed -E 's/#include <([^>]*)>.*/\1/')
}

# The text of the sources without comments, strings and character constants, as file:line:text.
code_lines() {
    files 'c\|h' | xargs -r awk '
        FNR == 1 { inside = 0 }
        {
            text = $0
            gsub(/\\\\|\\"/, "", text)
            gsub(/"[^"]*"/, "\"\"", text)
            result = ""
            while (text != "") {
                if (inside) {
                    end = index(text, "*/")
                    if (!end) { text = ""; break }
                    text = substr(text, end + 2); inside = 0
                } else {
                    begin = index(text, "/*")
                    if (!begin) { result = result text; break }
                    result = result substr(text, 1, begin - 1)
                    text = substr(text, begin + 2); inside = 1
                }
            }
            if (result ~ /[^ \t]/) print FILENAME ":" FNR ":" result
        }'
}

banned_functions() {
    local names='strcpy|strcat|v?sprintf|strtok|gets|ato[ilf]|rand|time|gettimeofday|assert'
    code_lines | grep -E "[^a-z_.>]($names)\("
}

# A library that other programs link must not abort them, so client/ has malloc itself.
allocation() {
    local names='[mc]alloc|realloc|reallocarray|free|strn?dup|aligned_alloc|posix_memalign'
    code_lines | grep -vE '^(base/memory\.c|client/.*):' | grep -E "[^a-z_.>]($names)\("
}

comment_style() {
    code_lines | grep -E '//'
    files 'c\|h' | xargs -r grep -nE 'TODO|FIXME|XXX[^0-9A-Za-z_]' /dev/null | grep -v mkstemp
}

# Columns are characters, not bytes: drawings use more than ASCII.
line_length() {
    local all
    all=$(files 'c\|h'; files 're\|y'; find tests bench -path tests/data -prune -o \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \) -print 2>/dev/null | chosen_of)
    [ -n "$all" ] || return
    LC_ALL=C.UTF-8 grep -nE '^.{101,}' $all /dev/null |
        sed -E 's/^([^:]*:[0-9]+:).*/\1 over 100 columns/'
    grep -nE '[[:blank:]]+$' $all /dev/null | sed -E 's/^([^:]*:[0-9]+:).*/\1 blanks at the end/'
    files 'c\|h' | xargs -r grep -nP '\t' /dev/null | sed -E 's/^([^:]*:[0-9]+:).*/\1 tab/'
}

# Who may come in is decided in one folder: no other listens, counts connections or asks whether a
# peer is still there.
one_door() {
    local names='network_(listen|listen_unix|listener_[a-z_]+|keepalive)|accept4?|listen|setsockopt'
    local counts='connection_count|session_count|SO_KEEPALIVE|TCP_KEEP[A-Z]+'
    code_lines | grep -vE '^(door/|client/|base/world/network(_uv)?\.[ch]:)' |
        grep -E "(^|[^a-z_.>])($names)\(|[^a-z_]($counts)"
}

# As `make fmt` lays it out, which .clang-format says how.
layout() {
    find . -name build -prune -o -name '*.c' -printf '%P\n' | chosen_of |
        xargs -r clang-format-16 --dry-run --Werror 2>&1 |
        sed -nE 's|^(\./)?(.*): error: code should be.*|\2: make fmt|p; /not found/p'
}

# What is kept is text and some test data, not what programs leave behind, a dump of memory say.
large_files() {
    git ls-files -z 2>/dev/null | find -files0-from - -maxdepth 0 -size +4M 2>/dev/null |
        sed 's/$/:1: over 4 MiB/'
}

# A header compiles on its own and starts by saying what it is for.
headers() {
    local header
    for header in $(files h); do
        head -n 1 "$header" | grep -qE "^/\* $(basename "$header" .h): " ||
            echo "$header:1: the first line is not '/* $(basename "$header" .h): purpose.'"
        ${CC:-gcc} -std=c11 -D_GNU_SOURCE -I. -fsyntax-only -x c "$header" 2>&1 |
            grep -v 'pragma once'
    done
}

# Every global is declared in a header, and none of them is a variable.  That the file includes that
# header the compiler sees to (-Wmissing-prototypes).
symbols() {
    local source built=()
    for source in $(files c); do
        [ -f "$objects/${source%.c}.o" ] && built+=("$objects/${source%.c}.o")
    done
    [ ${#built[@]} -gt 0 ] || return
    {
        files h | xargs cat | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u | sed 's/^/word /'
        nm -A --defined-only "${built[@]}"
    } | awk -v objects="$objects/" '
        $1 == "word" { words[$2]; next }
        {
            source = $1
            sub(/\.o:.*/, ".c", source)
            source = substr(source, length(objects) + 1)
        }
        $2 ~ /^[BbC]$/ { print source ": a variable outside functions: " $3; next }
        $2 ~ /^[A-Z]$/ && $3 !~ /^(main|argp_.*)$/ && !($3 in words) {
            print source ": global " $3 " is declared in no header"
        }'
}

# A function above, or a rule of tests/structure.py, which says what it holds.
run() { # RULE
    case $1 in
    structure_*) tests/structure.py "${1#structure_}" ;;
    *) "$1" ;;
    esac
}

# What a rule printed of the chosen files, if any were.
of_chosen() { # RULE
    if [ ${#chosen[@]} -eq 0 ]; then
        cat "$scratch/$1"
    else
        printf '%s\n' "${chosen[@]}" | grep -F -f - "$scratch/$1"
    fi
}

rules=(headers layout one_door vendor_headers banned_functions allocation
    comment_style line_length symbols large_files structure_includes structure_order structure_rooms
    structure_circles structure_names structure_used structure_headers structure_readmes
    structure_paths)
[ ${#chosen[@]} -eq 0 ] ||
    rules=(headers layout one_door vendor_headers banned_functions allocation
        comment_style line_length structure_includes structure_order structure_headers
        structure_readmes structure_paths)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for rule in "${rules[@]}"; do
    { run "$rule" >"$scratch/$rule"; of_chosen "$rule" >"$scratch/$rule.shown"; } &
done
wait

passed=0
failed=0
for rule in "${rules[@]}"; do
    if [ ! -s "$scratch/$rule.shown" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s:\n' "$rule"
        cat "$scratch/$rule.shown"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
