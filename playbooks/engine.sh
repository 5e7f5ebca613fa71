#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the engine for make. Usage: engine.sh STATUS-FILE ARGUMENT...
# A failed trial or build leaves STATUS-FILE, see the Makefile; an interruption ends make as Ctrl-C does.
set -eu

failed=$1
shift
cd "$(dirname "$0")/.."
playbooks/bootstrap.sh requirements.txt || status=$?
if [ -z "${status-}" ]; then
    build/venv/bin/python -m pathwarp "$@" || status=$?
fi
# End make as Ctrl-C does, and stay until it has taken the signal: when its child is gone by then, it complains about that
# and ends with 2. Pending signals are a bit mask, SIGINT the second bit.
interrupt_make() {
    kill -INT "$PPID"
    tries=0
    while [ "$tries" -lt 1000 ] && grep -q '^ShdPnd:.*[2367abef]$' "/proc/$PPID/status"; do
        tries=$((tries + 1))
    done
}

case ${status:-0} in
    0) ;;
    1) mkdir -p build && : >"$failed" ;;
    130) interrupt_make ;;
    *) exit "$status" ;;
esac
