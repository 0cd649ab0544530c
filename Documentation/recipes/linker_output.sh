#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Writes a file of 16 MiB through a shared mapping (before.pfs), and by write(2) (after.pfs).
# Takes a folder to work in, and prints the recording of the stall.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

python3 -c 'import mmap'
for mode in mmap write; do
	rm -f output
	sync
	recording=before.pfs
	[ $mode = mmap ] || recording=after.pfs
	pfdrive record -o $recording -- python3 "$here/linker_output.py" output $mode
done
echo "$1/before.pfs"
