// SPDX-License-Identifier: GPL-2.0-only
/*
 * faultlog: logs each call of ->fault() for the file mappings of one process.
 *
 *	insmod faultlog.ko pid=1234
 *	cat /sys/kernel/debug/faultlog
 *
 * prints a line for each call: its start, its duration, the thread, the address, and the class:
 *
 *	START_NS DURATION_NS TID 0xADDRESS CLASS
 */
#include <linux/module.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "the process whose mappings are watched");

/* TODO: give the mappings of the process a copy of their operations with your own ->fault(). */

/* TODO: log the calls, and show the log in debugfs. */

static int __init faultlog_init(void)
{
	return 0;
}

static void __exit faultlog_exit(void)
{
	/* TODO: a fault may still be in your code, and a child may have your operations. */
}

module_init(faultlog_init);
module_exit(faultlog_exit);
MODULE_DESCRIPTION("Logs the faults of one process");
MODULE_LICENSE("GPL");
