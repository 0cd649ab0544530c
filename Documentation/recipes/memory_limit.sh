#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two processes of 12 MiB each in a cgroup with a limit of 20 MiB (before.pfs), then with as
# much more as the report of before.pfs names (after.pfs). Takes a folder to work in, and
# prints the recording of the stall.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"
group=/sys/fs/cgroup/recipe

# Records a second of the processes, below the limit $1 in bytes, as $2.
record() {
	mkdir $group
	echo "$1" >$group/memory.max
	for _ in 1 2; do
		sh -c "echo \$\$ >$group/cgroup.procs && exec nice -n 19 python3 '$here/memory_limit.py'" &
	done
	sleep 1
	# The processes are nice, so that pfdrive starts soon on one CPU.
	pfdrive record --cgroup $group --duration 1 -o "$2"
	echo 1 >$group/cgroup.kill
	wait
	rmdir $group
}

echo +memory >/sys/fs/cgroup/cgroup.subtree_control
record $((20 << 20)) before.pfs
more=$(pfdrive report --format json before.pfs | python3 -c '
import json, sys
print(json.load(sys.stdin)["evictions"]["more_memory"]["points"][-1]["bytes"])')
record $(((20 << 20) + more)) after.pfs
echo "$1/before.pfs"
