#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What virtual machines run on here, as libvirt calls it: `kvm` or `qemu`, which is software emulation.
# A writable /dev/kvm is no proof: some hosts have one under which no guest gets anywhere.
if [ -w /dev/kvm ] && grep -Eq '^flags[[:space:]]*:.* (vmx|svm)( |$)' /proc/cpuinfo; then
    echo kvm
else
    echo qemu
fi
