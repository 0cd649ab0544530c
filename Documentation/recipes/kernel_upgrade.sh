#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program that uses a mapped database of 8 MiB at random (MADV_RANDOM), and reads a log of
# 64 MiB, in a cgroup with a limit of 32 MiB: run.pfs. Run it on two kernels and compare.
# Takes a folder to work in, and prints the recording. ADVICE=normal: without MADV_RANDOM.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"
group=/sys/fs/cgroup/recipe

dd if=/dev/zero of=database bs=1M count=8 2>/dev/null
dd if=/dev/zero of=log bs=1M count=64 2>/dev/null
sync
echo 3 >/proc/sys/vm/drop_caches
python3 -c 'import mmap, random'
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 32M >$group/memory.max
pfdrive record -o run.pfs -- sh -c "echo \$\$ >$group/cgroup.procs &&
	exec python3 '$here/kernel_upgrade.py' ${ADVICE-random}"
rmdir $group
echo "$1/run.pfs"
