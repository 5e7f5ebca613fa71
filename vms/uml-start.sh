#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# uml-start KERNEL LAB GUEST-CODE INIT PROGRAMS RUN-FOLDER MEMORY SEED CLOCK-PARAMETER...
#
# INIT is the file of the guest code that is the first process, PROGRAMS a folder that the guest needs, too, or nothing.
#
# Boot a guest inside mount, PID and network namespaces of its own. The guest's file system is the lab root, read-only, with the
# guest code and the programs (read-only) and the run folder (writable) bound into it: nothing else of the host can be reached,
# and the paths that the guest sees are the same in every trial.
set -eu
kernel=$1 lab=$2 code=$3 init=$4 programs=$5 run=$6 memory=$7 seed=$8
shift 8

base=/mnt
mount -t tmpfs -o mode=0755 tmpfs "$base"
mkdir "$base/lab" "$base/kernel" "$base/memory"
mount --bind "$lab" "$base/lab"
mount -o remount,bind,ro "$base/lab"
mount --bind "$code" "$base/lab/opt/pathwarp"
mount -o remount,bind,ro "$base/lab/opt/pathwarp"
if [ "$programs" ]; then
    mount --bind "$programs" "$base/lab/opt/programs"
    mount -o remount,bind,ro "$base/lab/opt/programs"
fi
mount --bind "$run" "$base/lab/run/pathwarp"
mount --bind "$kernel" "$base/kernel"
mount -t tmpfs -o mode=0700 tmpfs "$base/memory"

# Not exec: process 1 of a PID namespace is deaf to the signal by which a panicking kernel ends itself.
cd /
env -i HOME="$base/memory" TMPDIR="$base/memory" setarch -R "$base/kernel/linux" \
    "mem=$memory" root=/dev/root rootfstype=hostfs rootflags=/ "hostfs=$base/lab" ro \
    "$@" "random.seed=$seed" panic=-1 \
    con=null con0=null,fd:1 ssl=null init=/usr/bin/python3 -- -B -E -s "/opt/pathwarp/$init"
