#!/usr/bin/env bash
# make demo: the whole job on real input, in a folder that stays:
#
#   demo-data/data         the data directory
#   demo-data/*.csv*       the input, and its refused lines
#   demo-data/server.log   what the server said
#
# Each command is shown before it runs, as one would type it.  On a terminal the server stays until
# Enter is pressed, to be looked at in a browser.
set -euo pipefail
cd "$(dirname "$0")/.."

place=demo-data
directory=$place/data
server=

if [ -t 1 ]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
    bold='' dim='' plain=''
fi

stop_server() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" || true
        server=
    fi
}
trap stop_server EXIT

title() {
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

say() {
    printf '%s\n' "$@"
}

show() {
    printf '\n%s$ %s%s\n' "$dim" "$1" "$plain"
}

run() {
    show "$*"
    "$@"
}

# The port of a door, from what the server said.
port_of() {
    grep event=ready "$place/server.log" | sed -E "s/.* $1=127\.0\.0\.1:([0-9]+).*/\1/"
}

start_server() {
    local log=$place/server.log i
    : >"$log"
    ./daybook serve -d "$directory" --ingest 127.0.0.1:0 --cql none --http 127.0.0.1:0 2>"$log" &
    server=$!
    for ((i = 0; i < 1000; i++)); do
        grep -q event=ready "$log" && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.01
    done
    cat "$log" >&2
    exit 1
}

# Clicks and revenue, each as a table of resellers by months, from `report --by month --format csv`.
by_month() {
    awk -F, '
        function row(name, values, format,    i, line) {
            line = sprintf("  %-10s", name)
            for (i = 1; i <= months; i++)
                line = line sprintf(format, values[name, month[i]])
            print line
        }
        NR > 1 && $2 ~ /^2013-/ && $1 != "supaboobs" {
            if (!($1 in known)) { known[$1] = 1; reseller[++resellers] = $1 }
            seen[$2] = 1
            clicks[$1, $2] = $3
            revenue[$1, $2] = $5
            if ($6 > 0) mark[$1] = 1
        }
        END {
            split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
            for (i = 1; i <= 12; i++)
                if ((key = sprintf("2013-%02d", i)) in seen) month[++months] = key
            heading = sprintf("  %-10s", "clicks")
            for (i = 1; i <= months; i++)
                heading = heading sprintf("%7s", names[substr(month[i], 6) + 0])
            print heading
            for (r = 1; r <= resellers; r++) row(reseller[r], clicks, "%7d")
            sub(/clicks /, "revenue", heading)
            print ""
            print heading
            for (r = 1; r <= resellers; r++) row(reseller[r], revenue, "%7.2f")
        }'
}

# ---- the demo ----

if [ -e "$place" ]; then
    if ! [ -f "$directory/manifest" ]; then
        say "./$place is there, and no demo made it: move it away first" >&2
        exit 1
    fi
    rm -rf "$place"
fi
mkdir "$place"
cp tests/data/{paper,flights}-{clicks,rates}.csv* "$place"

title "daybook: every click once, and what each reseller has earned by it"
say "Everything stays in ./$place; run the demo again and it starts anew."

show "./daybook serve -d $directory --ingest 127.0.0.1:0 --http 127.0.0.1:0 &"
start_server
cat "$place/server.log"
port=$(port_of ingest)

title "1. Six clicks, three rates"
say "One reseller; from 2013-11-30 on it gets 30 % instead of 25 %."
show "nc -N 127.0.0.1 $port < $place/paper-clicks.csv"
nc -N 127.0.0.1 "$port" <"$place/paper-clicks.csv"
run ./daybook rate load -d "$directory" "$place/paper-rates.csv"
run ./daybook report -d "$directory"

title "2. A year of real events"
say "All flights that left New York in 2013, as clicks: 16 resellers, 336,776 lines, of which" \
    "2,512 have no ad and must be refused.  A bad line stops no good one, and is kept with" \
    "its reason."
run ./daybook load -d "$directory" "$place/flights-clicks.csv.gz"
show "./daybook rate load -d $directory $place/flights-rates.csv | tail -n 1"
./daybook rate load -d "$directory" "$place/flights-rates.csv" | tail -n 1
run ./daybook rollup -d "$directory"
show "./daybook report -d $directory --by month --format csv"
say "(as a table of months, revenue to two digits; the report itself is exact)"
./daybook report -d "$directory" --by month --format csv | by_month
run ./daybook report -d "$directory" --by total

title "3. A rate is agreed late"
say "AA gets 50 % from the first of December on, it turns out in January."
show "./daybook rate set -d $directory AA 2013-12-01 50% --note 'agreed late'"
./daybook rate set -d "$directory" AA 2013-12-01 50% --note "agreed late"
say "" "The ledger keeps every figure a day ever had, and who changed it:"
run ./daybook restatements -d "$directory" --reseller AA --from 2013-12-30 --all

title "4. Prove it"
say "Counters, report and ledger are worked out again from clicks and rates, digit for digit."
run ./daybook verify -d "$directory"

title "Try next"
say "  ./daybook rate delete AA 2013-12-01 -d $directory   take the change back" \
    "  ./daybook report --by reseller -d $directory        what each of them earned" \
    "  ./daybook serve -d $directory                       takes clicks again, at 127.0.0.1:7600"

title "Look at it"
page=http://127.0.0.1:$(port_of http)
say "  $page/                                 what comes in now" \
    "  $page/revenue?by=month                 the year, and who earned what" \
    "  $page/why?reseller=AA&day=2013-12-30   one figure, down to its clicks"
if [ -t 0 ] && [ -t 1 ]; then
    say "" "The server runs until you press Enter."
    read -r || true
fi
