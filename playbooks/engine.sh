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
case ${status:-0} in
    0) ;;
    1) mkdir -p build && : >"$failed" ;;
    130) kill -INT "$PPID" ;;
    *) exit "$status" ;;
esac
