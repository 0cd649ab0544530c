#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sums a column of a 64 MiB Arrow file with memory_map=True (before.pfs), after the whole file is
# read (read.pfs), and after only this column is (after.pfs). Takes a folder to work in, and prints
# the recording of the stall. Needs pfdrive in PATH, and pyarrow, which Debian does not have; runs
# here, or in the lab.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "${PFSTAT_KO-}" ] || [ -e /sys/module/pfstat ] || insmod "$PFSTAT_KO"

# Records the reader in mode $1 as $2, the pages of the file not in memory.
record() {
	dd if=table.arrow iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/arrow_memory_map.py" table.arrow "$1"
}

python3 "$here/arrow_memory_map.py" table.arrow make
sync table.arrow
record mapped before.pfs
record read read.pfs
record column after.pfs
echo "$1/before.pfs"
