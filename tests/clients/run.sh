#!/usr/bin/env bash
# Run the clients whose tools are installed against a server of their own; ends with a line for each
# of them, and one line "N passed, N failed".
#
#   run.sh ./daybook [python|node|gocql|gocql2|java|rust|cqlsh]...
#
# Each driver works once with each version of the protocol that it speaks, and once goes on through
# a disk that stalls for 15 seconds and a kill -9: what it sends again must count once.  cqlsh goes
# through the tests that the end-to-end ones have for it, and takes N rows (a million) in and out.
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
declare -A summary
mkdir -p "$build"
# bcrypt of the password, at cost 10
echo "$user:\$2b\$10\$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u" >"$directory/users"
"${CC:-cc}" -shared -fPIC -o "$directory/stall.so" stall.c || exit 1

# A server with the disk that can stall, on the port that it had before; without the clients' input,
# which must end.
start() {
    STALL=$directory/stall LD_PRELOAD=$directory/stall.so "$program" serve -d "$directory/data" \
        --ingest none --cql "127.0.0.1:$port" --cql-passwords "$directory/users" --http none \
        2>"$log" 9>&- &
    server=$!
    for _ in $(seq 200); do
        grep -q event=ready "$log" && break
        sleep 0.1
    done
    port=$(sed -n 's/.*event=ready.* cql=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$log")
    [ -n "$port" ] || { cat "$log"; exit 1; }
}

trap 'kill $server; wait $server; rm -rf "$directory"' EXIT
start

# Count what came of "$2" of the client $1, whose output is in $said; $3 is its status, and $4 what
# is to be said of one that went well.
count() {
    if [ "$3" -eq 0 ]; then
        passed=$((passed + 1))
        summary[$1]+="${summary[$1]:+; }$2${4:+: $4}"
        return
    fi
    failed=$((failed + 1))
    summary[$1]+="${summary[$1]:+; }$2: FAILED"
    tail -n 30 "$said"
    echo "FAILED: $1, $2"
}

# A client's program and its words, for each version of the protocol that it speaks; then through
# trouble, with the last one.
try() {
    local client=$1 versions=$2 version
    shift 2
    for version in $versions; do
        timeout 120 "$@" 127.0.0.1 "$port" "$version" "${client}_v$version" $user $password \
            >"$said" 2>&1
        count "$client" "version $version" $?
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
    count "$client" "a stalled disk and a restart" $status "$(tail -n 1 "$said")"
}

# What prepares the client $1; false: it cannot be run, and that is a failure.
prepare() {
    local client=$1
    shift
    "$@" >"$said" 2>&1 && return
    count "$client" "$*" 1
    return 1
}

# Whether the tool $2 of the client $1 is there.
have() {
    command -v "$2" >/dev/null || { summary[$1]="skipped: $2 is not installed"; return 1; }
}

run_python() {
    try python "3 4 5" "$python/python3" python/client.py
}

run_node() {
    have node npm || return
    mkdir -p "$build/node" && cp node/* "$build/node"
    prepare node npm --prefix "$build/node" ci --no-audit --no-fund &&
        try node "3 4" node "$build/node/client.js"
}

# $1: the client; $2: the folder with the driver's own files; $3: how the shared ones become its;
# $4: versions.
run_go() {
    have "$1" go || return
    mkdir -p "$build/$2" && cp "$2"/* "$build/$2"
    for file in main through; do
        sed "$3" "go/$file.go" >"$build/$2/$file.go"
    done
    prepare "$1" go -C "$build/$2" build -o client . && try "$1" "$4" "$build/$2/client"
}

run_gocql() {
    run_go gocql go '' "3 4"
}

run_gocql2() {
    local first='"github.com/gocql/gocql"'
    local second='gocql "github.com/apache/cassandra-gocql-driver/v2"'
    run_go gocql2 go2 "s|$first|$second|" "4 5"
}

run_java() {
    have java mvn || return
    prepare java mvn -q -f java/pom.xml dependency:build-classpath \
        "-Dmdep.outputFile=$build/classpath" &&
        try java "3 4 5" java -cp "$(cat "$build/classpath")" java/Client.java
}

run_rust() {
    have rust cargo || return
    CARGO_TARGET_DIR=$build/rust prepare rust cargo build -q --locked \
        --manifest-path rust/Cargo.toml && try rust "4" "$build/rust/debug/client"
}

run_cqlsh() {
    DAYBOOK=$program "$python/python3" -m pytest -q "$root/tests/e2e/test_cqlsh.py" >"$said" 2>&1
    count cqlsh "statements, DESCRIBE, pages, tracing, its own commands" $? "$(tail -n 1 "$said")"
    timeout 3600 "$python/python3" cqlsh/copy_rows.py "$python/cqlsh" 127.0.0.1 "$port" $user \
        $password "$directory" "$server" "${N:-1000000}" >"$said" 2>&1
    count cqlsh "COPY" $?
    grep "^COPY" "$said"
}

for client in $clients; do
    run_"$client"
done
for client in $clients; do
    echo "$client: ${summary[$client]}"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
