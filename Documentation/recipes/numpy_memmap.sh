#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reads a numpy.memmap in order (order.pfs), at random (before.pfs), and at random with MADV_RANDOM
# (after.pfs). Takes a folder to work in, and prints the recording of the stall. Needs pfdrive in
# PATH and python3-numpy; runs here, or in the lab.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "${PFSTAT_KO-}" ] || [ -e /sys/module/pfstat ] || insmod "$PFSTAT_KO"

# Records the reader in mode $1 as $2, the pages of the array not in memory.
record() {
	dd if=array iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/numpy_memmap.py" array "$1"
}

python3 "$here/numpy_memmap.py" array make
sync array
record order order.pfs
record random before.pfs
record advised after.pfs
echo "$1/before.pfs"
