#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An event loop does not preempt a batch job on the same CPU (before.pfs). Then the job runs only
# if the CPU is idle (idle.pfs). Then the loop's threads also use pread(2) instead of a mapping
# (after.pfs). Takes a folder to work in, and prints the name of the first recording.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
[ -e /sys/module/pfstat ] || insmod "${PFSTAT_KO:?not set: run this script in tools/lab shell}"

# Records the event loop in mode $1 as $2, without the records in memory. The other arguments
# start the job.
record() {
	mode=$1
	recording=$2
	shift 2
	dd if=records iflag=nocache count=0 2>/dev/null
	taskset -c 0 "$@" python3 "$here/event_loop.py" &
	pfdrive record -o "$recording" -- \
		chrt --batch 0 taskset -c 0 python3 "$here/event_loop.py" records "$mode"
	kill $!
	wait $! || :
}

yes pfstat | head -c 1M >records
sync records
python3 "$here/event_loop.py" records map
record map before.pfs
record map idle.pfs chrt --idle 0
record pread after.pfs chrt --idle 0
echo "$1/before.pfs"
