#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Starts python3 with an empty page cache (before.pfs), and again after the files that the
# recording names are read (after.pfs). Takes a folder to work in, and prints the recording
# of the stall.
set -e
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

# Records the start of the program as $1. Only pfdrive itself is in the page cache.
record() {
	pfdrive record -o "$1" -- python3 -c 'import decimal, json, sqlite3, ssl'
}

# Empties the page cache; then brings pfdrive back, so that the recording has no wait for it.
cold() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	pfdrive record -o warm_up.pfs -- true
}

cold
record before.pfs
pfdrive report --by file --format csv before.pfs |
	awk -F, '$1 == "file" && $9 > 0 { print $2 }' >prefetch
cold
xargs cat <prefetch >/dev/null
record after.pfs
echo "$1/before.pfs"
