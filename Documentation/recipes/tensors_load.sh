#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Loads tensors of one file (before.pfs), after MADV_WILLNEED for each of them (advised.pfs), and
# after the pages that the first recording lists are read (after.pfs). Takes a folder to work in,
# and prints the recording of the stall. Needs pfdrive in PATH; runs here, or in the lab.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -z "${PFSTAT_KO-}" ] || [ -e /sys/module/pfstat ] || insmod "$PFSTAT_KO"

# Drops the pages of the model from the page cache.
cold() {
	dd if=model iflag=nocache count=0 2>/dev/null
}

# Records the loader in mode $1 as $2.
record() {
	pfdrive record -o "$2" -- python3 "$here/tensors_load.py" model "$1"
}

python3 "$here/tensors_load.py" model make
sync model
cold
record load before.pfs
cold
record advised advised.pfs
pfdrive prefetch make before.pfs -o model.list
cold
pfdrive prefetch apply model.list
record load after.pfs
echo "$1/before.pfs"
