#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loads a file of 16 MiB with the wrong advice (before.pfs) and without it (after.pfs).
# Takes a folder to work in, and prints the recording of the stall.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

# Records the program with the advice $1 as $2, the pages of its file not in memory.
record() {
	dd if=model iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/model_advice.py" model "$1"
}

dd if=/dev/zero of=model bs=1M count=16 2>/dev/null
sync
python3 -c 'import mmap'
record random before.pfs
record normal after.pfs
echo "$1/before.pfs"
