#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# start STATE
#
# Run a libvirtd whose files are all in the folder STATE, in mount and PID namespaces of its own. It starts with no networks, so
# the host's interfaces, routes and rules stay as they are, and when the namespaces' first process ends, its virtual machines do
# too. Where /dev/kvm is of no use, a file that can't be written hides it: libvirt would try it again for all that it does.
set -eu
state=$1
here=$(dirname "$0")
PATH=$PATH:/usr/sbin:/sbin
user=
[ "$(id -u)" -eq 0 ] || user='--user --map-root-user --map-auto'
umask 077
mkdir -p "$state/etc/qemu" "$state/lib" "$state/cache" "$state/log" "$state/run"
rm -rf "$state/run"/*
cp "$here/libvirtd.conf" "$here/qemu.conf" "$state/etc"
# shellcheck disable=SC2016,SC2086 # $1 and $2 are the inner shell's; $user is two words or none
exec unshare $user --mount --pid --fork --kill-child sh -euc '
    mount -t proc proc /proc
    mount --bind "$1/etc" /etc/libvirt
    mount --bind "$1/lib" /var/lib/libvirt
    mount --bind "$1/cache" /var/cache/libvirt
    mount --bind "$1/log" /var/log/libvirt
    mount --bind "$1/run" /run
    if [ "$2" != kvm ] && [ -e /dev/kvm ]; then
        : >/var/cache/libvirt/no-kvm
        mount --bind /var/cache/libvirt/no-kvm /dev/kvm
        mount -o remount,bind,ro /dev/kvm
    fi
    # Not in place of this shell: process 1 has to collect the machines that ended.
    libvirtd --pid-file /run/libvirtd.pid
    exit
' libvirtd "$state" "$("$here/accelerator.sh")" >"$state/log/libvirtd.log" 2>&1 </dev/null
