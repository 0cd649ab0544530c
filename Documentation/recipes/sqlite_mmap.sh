#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Looks 500 rows of an SQLite database up at random, by mmap (before.pfs) and by read
# (after.pfs). Takes a folder to work in, and prints the recording of the stall.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

# Records the reader with PRAGMA mmap_size=$1 as $2, the pages of the database not in memory.
record() {
	dd if=data.sqlite iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/sqlite_mmap.py" data.sqlite "$1"
}

rm -f data.sqlite
python3 "$here/sqlite_mmap.py" data.sqlite make
sync
record 268435456 before.pfs
record 0 after.pfs
echo "$1/before.pfs"
