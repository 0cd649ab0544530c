#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Answers requests from memory, and a few from a file on a disk with reads of 6 ms (before.pfs).
# Then the service reads the file at the start (after.pfs). Takes a folder to work in, makes the
# disk at /mnt/archive, and prints the name of the first recording.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"
config=/sys/kernel/config/nullb/archive

make_slow_disk() {
	modprobe configfs || :
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir $config
	for setting in size=64 memory_backed=1 blocksize=4096 irqmode=2 completion_nsec=6000000 \
		power=1; do
		echo "${setting#*=}" >"$config/${setting%%=*}"
	done
	# Older kernels name the disk by its number.
	disk=archive
	[ -e /sys/block/$disk ] || disk=nullb1
	[ -b /dev/$disk ] || mknod /dev/$disk b $(tr : ' ' </sys/block/$disk/dev)
	mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/$disk
	mkdir -p /mnt/archive
	mount -o noatime /dev/$disk /mnt/archive
	yes pfstat | head -c 4M >/mnt/archive/records
	sync /mnt/archive/records
}

# Records the service in mode $1 as $2, without the file's pages in memory.
record() {
	dd if=/mnt/archive/records iflag=nocache count=0 2>/dev/null
	pfdrive record -o "$2" -- python3 "$here/slow_requests.py" /mnt/archive/records "$1"
}

[ -e $config ] || make_slow_disk
python3 -c 'import mmap, zlib'
record map before.pfs
record read after.pfs
echo "$1/before.pfs"
