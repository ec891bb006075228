#!/usr/bin/env bash
# Run the clients whose tools are installed against a server of their own; ends with one line
# "N passed, N failed".
#
#   run.sh ./daybook [node|gocql|gocql2|java|rust]...
set -uo pipefail
program=$(realpath "$1")
shift
cd "$(dirname "$0")"
clients=${*:-node gocql gocql2 java rust}

build=$(realpath ../..)/build/clients
directory=$(mktemp -d)
log=$directory/log
mkdir -p "$build"
"$program" serve -d "$directory/data" --ingest none --cql 127.0.0.1:0 --http none 2>"$log" &
server=$!
trap 'kill $server; wait $server; rm -rf "$directory"' EXIT
for _ in $(seq 100); do
    grep -q ready "$log" && break
    sleep 0.1
done
port=$(sed -n 's/.*ready.* cql 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$log")
[ -n "$port" ] || { cat "$log"; exit 1; }

passed=0
failed=0
said=$directory/said

# A client's program and its words, for each version of the protocol that it speaks.
try() {
    local client=$1 versions=$2 version
    shift 2
    for version in $versions; do
        if timeout 120 "$@" 127.0.0.1 "$port" "$version" "${client}_v$version" >"$said" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            tail -n 30 "$said"
            echo "FAILED: $client, version $version"
        fi
    done
}

# What prepares a client; false: it cannot be run, and that is a failure.
prepare() {
    "$@" >"$said" 2>&1 && return
    failed=$((failed + 1))
    tail -n 30 "$said"
    echo "FAILED: $*"
    return 1
}

have() {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; return 1; }
}

run_node() {
    have npm || return
    mkdir -p "$build/node" && cp node/* "$build/node"
    prepare npm --prefix "$build/node" ci --no-audit --no-fund &&
        try node "3 4" node "$build/node/client.js"
}

# $1: the folder with the driver's go.mod; $2: how main.go becomes its program; $3: versions.
build_go() {
    have go || return
    mkdir -p "$build/$1" && cp "$1/go.mod" "$1/go.sum" "$build/$1" &&
        sed "$2" go/main.go >"$build/$1/main.go"
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

for client in $clients; do
    run_"$client"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
