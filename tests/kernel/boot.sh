#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# boot KERNEL FOLDER ARGUMENT...: boot a User Mode Linux kernel on the root file system FOLDER, whose /init gets the arguments. For a
# mount namespace of its own.
set -eu
kernel=$1 folder=$2
shift 2
mount -t tmpfs tmpfs /mnt
mkdir -p "$folder/proc" "$folder/dev"
exec env -i HOME=/mnt TMPDIR=/mnt setarch -R "$kernel" mem=128M root=/dev/root rootfstype=hostfs rootflags=/ "hostfs=$folder" rw \
    time-travel=inf-cpu time-travel-start=1767225600000000000 random.seed=1 panic=-1 con=null con0=null,fd:1 ssl=null init=/init -- "$@"
