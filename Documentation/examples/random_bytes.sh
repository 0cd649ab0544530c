#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records, reports and replays the program of random_bytes.rst, in the lab:
#	tools/lab run --deterministic --out out -- sh Documentation/examples/random_bytes.sh
# out/ then has the recording, of which the page shows a figure:
#	build/pfdrive report out/run.pfs --plot out/figures
set -e

# Evicts the file's pages from the page cache.
cold() {
	dd if=/mnt/disk/f iflag=nocache count=0 2>/dev/null
}

# Prints a command and runs it.
show() {
	echo "+ $*"
	"$@"
}

insmod "$PFSTAT_KO"
dd if=/dev/zero of=/mnt/disk/f bs=1M count=44 2>/dev/null
sync
python3 -c 'import mmap, random'
cd "$OUT"
cold
show pfdrive record -o run.pfs -- python3 /pfstat/Documentation/examples/random_bytes.py
show pfdrive report run.pfs
cold
show pfdrive replay --file /mnt/disk/f run.pfs
cold
show pfdrive replay --file /mnt/disk/f --advise random run.pfs
