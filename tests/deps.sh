#!/bin/sh
# Install those of the Debian packages named as arguments that are missing, and say which.
#
# On another system it only says what is needed: the build then finds it, or fails by name.
set -eu

if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system; the build needs what these packages hold: $*"
    exit 0
fi

missing=
for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "missing packages:$missing"
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
install="apt-get install -y --no-install-recommends"
# shellcheck disable=SC2086 # lists of words
$as_root env DEBIAN_FRONTEND=noninteractive $install $missing || {
    $as_root apt-get update
    $as_root env DEBIAN_FRONTEND=noninteractive $install $missing
}
