#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Restores memory by userfaultfd, with a handler of one thread (before.pfs) and of four (after.pfs).
# Takes a folder to work in, and prints the recording of the stall. Needs pfdrive and page_server
# (tests/vm/progs) in PATH, as in the lab.
set -e
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"
pfdrive record -o before.pfs -- page_server 1 100 far
pfdrive record -o after.pfs -- page_server 4 100 far
echo "$1/before.pfs"
