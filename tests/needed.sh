#!/bin/sh
# Whether what the build needs is there: tools by name, libraries by pkg-config, and files.
#
#   tests/needed.sh COMPILER "LIBRARY ..." "FILE ..." PACKAGE ...
#
# If something is missing it says what, and which Debian packages have it, and fails.
set -eu

compiler=$1
libraries=$2
files=$3
shift 3

missing=
for tool in "$compiler" ar ld objcopy pkg-config re2c lemon; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
for library in $libraries; do
    ! command -v pkg-config >/dev/null || pkg-config --exists "$library" ||
        missing="$missing $library"
done
for file in $files; do
    [ -e "$file" ] || missing="$missing $file"
done
[ -n "$missing" ] || exit 0

echo "daybook cannot be built yet; missing:$missing" >&2
packages=
if command -v dpkg-query >/dev/null; then
    for package in "$@"; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || packages="$packages $package"
    done
fi
echo "packages of Debian that have it:${packages:- $*}" >&2
echo "make deps installs them" >&2
exit 1
