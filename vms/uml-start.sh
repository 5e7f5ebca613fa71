#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# uml-start KERNEL LAB GUEST-CODE RUN-FOLDER MEMORY SEED CLOCK-PARAMETER...
#
# Boot a guest inside mount, PID and network namespaces of its own. The guest's file system is the lab root, read-only, with the
# guest code (read-only) and the run folder (writable) bound into it: nothing else of the host can be reached, and the paths that
# the guest sees are the same in every trial.
set -eu
kernel=$1 lab=$2 code=$3 run=$4 memory=$5 seed=$6
shift 6

base=/mnt
mount -t tmpfs -o mode=0755 tmpfs "$base"
mkdir "$base/lab" "$base/kernel" "$base/memory"
mount --bind "$lab" "$base/lab"
mount -o remount,bind,ro "$base/lab"
mount --bind "$code" "$base/lab/opt/pathwarp"
mount -o remount,bind,ro "$base/lab/opt/pathwarp"
mount --bind "$run" "$base/lab/run/pathwarp"
mount --bind "$kernel" "$base/kernel"
mount -t tmpfs -o mode=0700 tmpfs "$base/memory"

# Not exec: process 1 of a PID namespace is deaf to the signal by which a panicking kernel ends itself.
cd /
env -i HOME="$base/memory" TMPDIR="$base/memory" setarch -R "$base/kernel/linux" \
    "mem=$memory" root=/dev/root rootfstype=hostfs rootflags=/ "hostfs=$base/lab" ro \
    "$@" "random.seed=$seed" panic=-1 \
    con=null con0=null,fd:1 ssl=null init=/usr/bin/python3 -- -B -E -s /opt/pathwarp/init.py
