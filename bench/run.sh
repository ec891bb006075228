#!/usr/bin/env bash
# make bench-ingest: clicks over TCP into a durable daybook, with the sender on the same cores.
#
#   bench/run.sh PROGRAM SENDER         e.g. ./daybook build/release-gcc/bench/send_clicks
#
# Each way of sending runs RUNS times on a fresh directory; the run of median speed is the one whose
# figures are shown.  After the last `ok` of a run the server is killed with -9 and started again
# (restart: from its start to `ready`, with everything it has to read back from the log), compacted
# (size: all files but the log, whose files are allocated ahead and used again) and verified.
# The table goes to standard output and, between two markers, into bench/README.md.
#
#   CLICKS  how many (10000000)     RUNS  of each way (3)     DIRECTORY  where (a new one in build/)
set -euo pipefail
cd "$(dirname "$0")/.."

clicks=${CLICKS:-10000000}
runs=${RUNS:-3}
place=$(mktemp -d "${DIRECTORY:-build}/bench-data.XXXXXX")
# Copies: a build meanwhile does not change what is measured.
program=$place/daybook
sender=$place/send_clicks
cp "${1:-./daybook}" "$program"
cp "${2:-build/release-gcc/bench/send_clicks}" "$sender"
server=

cleanup() {
    if [ -n "$server" ]; then
        kill -9 "$server" 2>/dev/null || true
    fi
    rm -rf "$place"
}
trap cleanup EXIT

now_ms() {
    date +%s%3N
}

# Start the server on $1 and wait until it is ready; sets `server`, `address` and `start_ms`.
serve() {
    local log=$place/log began
    : >"$log" # before the server's own process opens it: the last one was ready too
    began=$(now_ms)
    "$program" serve -d "$1" --ingest 127.0.0.1:0 --cql none --http none 2>"$log" &
    server=$!
    until grep -q ready "$log"; do
        kill -0 "$server" 2>/dev/null || { cat "$log" >&2; exit 1; }
        sleep 0.002
    done
    start_ms=$(($(now_ms) - began))
    address=$(grep ready "$log" | grep -oE '127\.0\.0\.1:[0-9]+' | head -n 1)
}

# Its output is shown only where it fails.
quietly() {
    "$@" >"$place/out" 2>&1 && return
    echo "$* failed" >&2
    cat "$place/out" "$place/log" >&2
    exit 1
}

# One figure of send_clicks by its name.
figure() {
    awk -v name="$1" '$1 == name { print $2 }' "$place/sent"
}

# Print: clicks/s, p50 ms, p99 ms, peak MiB, restart s, compact s, bytes a click.
measure() {
    local directory=$place/data began compact size peak restart
    serve "$directory"
    "$sender" -n "$clicks" "$@" "$address" >"$place/sent"
    peak=$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$server/status")
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    serve "$directory"
    restart=$start_ms
    began=$(now_ms)
    quietly "$program" compact -d "$directory"
    compact=$(($(now_ms) - began))
    size=$(find "$directory" -type f -not -path '*/log/*' -printf '%s\n' |
        awk '{ sum += $1 } END { print sum }')
    quietly "$program" verify -d "$directory"
    kill "$server"
    quietly wait "$server"
    server=
    rm -rf "$directory"
    awk -v rate="$(figure clicks/s)" -v p50="$(figure ack_p50_ms)" -v p99="$(figure ack_p99_ms)" \
        -v peak="$peak" -v restart="$restart" -v compact="$compact" -v size="$size" -v n="$clicks" \
        'BEGIN { printf "%d %.2f %.2f %d %.2f %.2f %.2f\n", rate, p50, p99, peak, restart / 1000,
                 compact / 1000, size / n }'
}

# A row of the table: the median of the runs by speed.
row() {
    local title=$1 i
    shift
    : >"$place/runs"
    for ((i = 0; i < runs; i++)); do
        measure "$@" >>"$place/runs"
        echo "  $title: $(tail -n 1 "$place/runs")" >&2
    done
    sort -n "$place/runs" | awk -v title="$title" -v middle=$(((runs + 1) / 2)) 'NR == middle {
        printf "| %s | %.2f M | %s | %s | %s | %s | %s | %s |\n",
               title, $1 / 1e6, $2, $3, $4, $5, $6, $7 }'
}

table() {
    printf '| sent | clicks/s | ack p50 ms | ack p99 ms | peak MiB |'
    echo ' restart s | compact s | bytes/click |'
    echo "|---|---|---|---|---|---|---|---|"
    row "1 connection, in order" --connections 1
    row "1 connection, 5 % late" --connections 1 --order late
    row "1 connection, shuffled" --connections 1 --order shuffled
    row "8 connections, in order" --connections 8 --window 16
    row "8 connections, shuffled" --connections 8 --window 16 --order shuffled
    row "1 connection, waiting for each ack" --connections 1 --window 1
}

machine() {
    local model
    model=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
    echo "$(nproc) cores of ${model:-$(uname -m)}, $(awk '/^MemTotal/ {
        printf "%d GiB", $2 / 1048576 + 0.5 }' /proc/meminfo), Linux $(uname -r)"
}

{
    echo "$clicks clicks of 55 bytes, 30 days, 1,000 resellers, batches of 1,000;" \
        "median of $runs runs."
    echo "$(date -u +%F), commit $(git rev-parse --short HEAD), $(machine)," \
        "load average before: $(cut -d ' ' -f 1 /proc/loadavg)."
    echo
    table
} >"$place/table"
cat "$place/table"

awk -v table="$place/table" '
    /<!-- ingest: end -->/ { inside = 0 }
    !inside { print }
    /<!-- ingest: begin -->/ { inside = 1; while ((getline line < table) > 0) print line }
' bench/README.md >"$place/readme"
cat "$place/readme" >bench/README.md
