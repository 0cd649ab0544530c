#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reads 500 records of an LMDB database at random, with the kernel's read-ahead (before.pfs)
# and with MDB_NORDAHEAD (after.pfs). Takes a folder to work in, and prints the recording of
# the stall. Needs python3-lmdb.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

# Records the reader in mode $1 as $2, the pages of the database not in memory.
record() {
	dd if=data.mdb iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/lmdb_readahead.py" data.mdb "$1"
}

python3 "$here/lmdb_readahead.py" data.mdb make
sync
record readahead before.pfs
record noreadahead after.pfs
echo "$1/before.pfs"
