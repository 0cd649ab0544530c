#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reads a CSV file of 10 MiB with memory_map=True (before.pfs), without it (read.pfs), and only one
# of its columns (after.pfs). Takes a folder to work in, and prints the recording of the stall. Needs
# pfdrive in PATH and python3-pandas; runs here, or in the lab.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "${PFSTAT_KO-}" ] || [ -e /sys/module/pfstat ] || insmod "$PFSTAT_KO"

# Records the reader in mode $1 as $2, the pages of the file not in memory.
record() {
	dd if=table.csv iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/pandas_memory_map.py" table.csv "$1"
}

python3 "$here/pandas_memory_map.py" table.csv make
sync table.csv
record mapped before.pfs
record read read.pfs
record column after.pfs
echo "$1/before.pfs"
