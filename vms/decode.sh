#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# decode LAB RUN-FOLDER
#
# Have the lab root's ITGDec write the receivers' logs as text, as the guest would see it, but without its system calls' price: it
# makes two for each packet. For namespaces of its own.
set -eu
lab=$1 run=$2
mount --bind "$run" "$lab/run/pathwarp"
for log in "$lab"/run/pathwarp/logs/*receiver.bin; do
    name=$(basename "$log" .bin)
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TMPDIR=/tmp \
        chroot "$lab" ITGDec "/run/pathwarp/logs/$name.bin" -l "/run/pathwarp/logs/$name.txt"
done
