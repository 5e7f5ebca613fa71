#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Have the Python environment build/venv hold what the given requirements files pin. Usage: bootstrap.sh [--check] FILE...
# Up to date, it only compares the files with its copies of those it has installed; with --check it does no more anyway,
# and ends with 1 where something is missing.
set -eu

venv=build/venv

log=build/logs/bootstrap.log

die() {
    echo "bootstrap: $*" >&2
    exit 1
}

die_of() {
    tail -n 5 "$log" | sed 's/^/    /' >&2
    die "$*; all of it is in $log"
}

# A copy of a file stands for what it asked for, and is made when all of that is there.
current() {
    for file in "$@"; do
        cmp -s "$file" "$venv/installed/$file" || return 1
    done
    test -x "$venv/bin/python"
}

find_python() {
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            return
        fi
    done
    return 1
}

# Debian splits venv's better half off into a package of its own.
find_usable_python() {
    find_python && "$python" -c 'import ensurepip, venv' 2>/dev/null
}

install_python() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root='sudo --non-interactive'
        $as_root true 2>/dev/null || die "packages are missing on this machine; run: sudo apt-get install python3-venv"
    fi
    echo "bootstrap: installing python3-venv" >&2
    {
        $as_root apt-get update && $as_root apt-get install --yes --no-install-recommends python3-venv
    } >"$log" 2>&1 </dev/null || die_of "the package python3-venv can't be installed"
}

create() {
    if ! find_usable_python; then
        install_python
        python=/usr/bin/python3
        find_usable_python || die "there is no Python of version 3.11 or later"
    fi
    echo "bootstrap: making a Python environment in $venv" >&2
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$log" 2>&1 || die_of "the Python environment can't be made"
    mkdir "$venv/installed"
}

install() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --requirement "$1" \
        >>"$log" 2>&1 || die_of "pip can't install what $1 asks for"
    cp "$1" "$venv/installed/$1"
}

cd "$(dirname "$0")/.."
only_check=
if [ "$1" = --check ]; then
    only_check=yes
    shift
fi
if current "$@"; then
    exit
elif [ "$only_check" ]; then
    exit 1
fi
mkdir -p build/logs 2>/dev/null || die "build can't be written"
exec 9>build/bootstrap.lock
flock 9
for file in "$@"; do
    # What one file asked for earlier may be at odds with what it asks for now, so it all begins anew.
    if ! current || { [ -e "$venv/installed/$file" ] && ! current "$file"; }; then
        create
    fi
done
for file in "$@"; do
    current "$file" || install "$file"
done
