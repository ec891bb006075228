#!/usr/bin/env bash
# Run the clients whose tools are installed against a server of their own; ends with one line
# "N passed, N failed".
#
#   run.sh ./daybook [node|gocql|gocql2|java|rust|python|cqlsh]...
#
# Each client works once with each version of the protocol that it speaks, and once goes on through
# a disk that stalls for 15 seconds and a kill -9: what it sends again must count once.
set -uo pipefail
program=$(realpath "$1")
shift
cd "$(dirname "$0")"
clients=${*:-python node gocql gocql2 java rust cqlsh}

root=$(realpath ../..)
build=$root/build/clients
python=$root/build/python/bin
directory=$(mktemp -d)
log=$directory/log
said=$directory/said
user=alice
password=secret
port=0
passed=0
failed=0
mkdir -p "$build"
# bcrypt of the password, at cost 4
echo "$user:\$2b\$04\$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW" >"$directory/users"
"${CC:-cc}" -shared -fPIC -o "$directory/stall.so" stall.c || exit 1

# A server with the disk that can stall, on the port that it had before; without the clients' input,
# which must end.
start() {
    STALL=$directory/stall LD_PRELOAD=$directory/stall.so "$program" serve -d "$directory/data" \
        --ingest none --cql "127.0.0.1:$port" --cql-passwords "$directory/users" --http none \
        2>"$log" 9>&- &
    server=$!
    for _ in $(seq 200); do
        grep -q ready "$log" && break
        sleep 0.1
    done
    port=$(sed -n 's/.*ready.* cql 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$log")
    [ -n "$port" ] || { cat "$log"; exit 1; }
}

trap 'kill $server; wait $server; rm -rf "$directory"' EXIT
start

# Count what came of "$1", whose output is in $said; $2 is its status.
count() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    tail -n 30 "$said"
    echo "FAILED: $1"
}

# A client's program and its words, for each version of the protocol that it speaks; then through
# trouble, with the last one.
try() {
    local client=$1 versions=$2 version
    shift 2
    for version in $versions; do
        timeout 120 "$@" 127.0.0.1 "$port" "$version" "${client}_v$version" $user $password \
            >"$said" 2>&1
        count "$client, version $version" $?
    done
    trouble "$client" "$@" 127.0.0.1 "$port" "$version" "${client}_through" $user $password through
}

# The client streams for as long as its input is open.
trouble() {
    local client=$1 status
    shift
    rm -f "$directory/input"
    mkfifo "$directory/input"
    timeout 200 "$@" <"$directory/input" >"$said" 2>&1 &
    local streaming=$!
    exec 9>"$directory/input"
    for _ in $(seq 300); do
        grep -q streaming "$said" && break
        sleep 0.1
    done
    sleep 1
    touch "$directory/stall"
    sleep 15
    rm "$directory/stall"
    sleep 2
    kill -9 $server
    wait $server 2>/dev/null
    start
    sleep 2
    exec 9>&-
    wait $streaming
    status=$?
    # Without anything sent again it was no trial.
    grep -q "sent, [1-9][0-9]* sent again" "$said" || status=1
    count "$client, through a stalled disk and a restart" $status
    [ $status -ne 0 ] || echo "$client: $(tail -n 1 "$said")"
}

# What prepares a client; false: it cannot be run, and that is a failure.
prepare() {
    "$@" >"$said" 2>&1 && return
    count "$*" 1
    return 1
}

have() {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; return 1; }
}

run_python() {
    try python "3 4 5" "$python/python3" python/client.py
}

run_node() {
    have npm || return
    mkdir -p "$build/node" && cp node/* "$build/node"
    prepare npm --prefix "$build/node" ci --no-audit --no-fund &&
        try node "3 4" node "$build/node/client.js"
}

# $1: the folder with the driver's own files; $2: how the shared ones become its; then name and
# versions.
build_go() {
    have go || return
    mkdir -p "$build/$1" && cp "$1"/* "$build/$1"
    for file in main through; do
        sed "$2" "go/$file.go" >"$build/$1/$file.go"
    done
    prepare go -C "$build/$1" build -o client . && try "$3" "$4" "$build/$1/client"
}

run_gocql() {
    build_go go '' gocql "3 4"
}

run_gocql2() {
    local first='"github.com/gocql/gocql"'
    local second='gocql "github.com/apache/cassandra-gocql-driver/v2"'
    build_go go2 "s|$first|$second|" gocql2 "4 5"
}

run_java() {
    have mvn || return
    prepare mvn -q -f java/pom.xml dependency:build-classpath \
        "-Dmdep.outputFile=$build/classpath" &&
        try java "3 4 5" java -cp "$(cat "$build/classpath")" java/Client.java
}

run_rust() {
    have cargo || return
    CARGO_TARGET_DIR=$build/rust prepare cargo build -q --locked --manifest-path rust/Cargo.toml &&
        try rust "4" "$build/rust/debug/client"
}

run_cqlsh() {
    timeout 900 "$python/python3" cqlsh/copy_rows.py "$python/cqlsh" 127.0.0.1 "$port" $user \
        $password "$directory" >"$said" 2>&1
    count "cqlsh, COPY of a million rows" $?
    grep rows/s "$said"
}

for client in $clients; do
    run_"$client"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
