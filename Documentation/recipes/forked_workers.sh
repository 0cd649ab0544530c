#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reads samples in forked workers, with an index that is a list of objects (before.pfs), and one
# array of bytes (after.pfs). Takes a folder to work in, and prints the recording of the stall.
# Needs pfdrive in PATH; runs here, or in the lab.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "${PFSTAT_KO-}" ] || [ -e /sys/module/pfstat ] || insmod "$PFSTAT_KO"

# Records the loader with the index $1 as $2. The samples are in memory.
record() {
	cat samples >/dev/null
	pfdrive record -o "$2" -- python3 "$here/forked_workers.py" samples "$1"
}

python3 "$here/forked_workers.py" samples make
record list before.pfs
record array after.pfs
echo "$1/before.pfs"
