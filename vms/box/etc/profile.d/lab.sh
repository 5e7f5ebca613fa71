# SPDX-License-Identifier: Apache-2.0
# What sysctl, ip and tc show is for everyone.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
