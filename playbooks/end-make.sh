#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# End as STATUS says, and have the make that called end so, too. Usage: end-make.sh STATUS, in a child of make.
#
# Whatever fails in a recipe, make's own exit status is 2. But it ends with 1 after SIGQUIT, and as Ctrl-C ends it after
# SIGINT. A script's background job is deaf to both, and gets the 2.
set -eu

case $1 in
    1) signal=QUIT place=2 ;;
    130) signal=INT place=1 ;;
    *) exit "$1" ;;
esac

# Whether make still has its own way with the signal, which is the bit of a mask. The first thing that it does when it
# takes one is to give that up, so that a second one would kill it.
caught() {
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$PPID/status")
    [ "$((0x${mask:-0} >> place & 1))" -eq 1 ]
}

# With make's --jobs several end at once: one after the other.
exec 9<"$(dirname "$0")/../Makefile"
flock 9
if caught; then
    kill -s "$signal" "$PPID"
    # Stay until make has taken it: then it waits for its children, and is at odds with itself when this one is gone
    # already. But not for ever, somebody may have stopped it.
    tries=0
    while [ "$tries" -lt 1000 ] && caught; do
        tries=$((tries + 1))
    done
fi
exit "$1"
