// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload: the order in which the parts come and go. */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>

#include "debugfs.h"
#include "device.h"
#include "follow.h"
#include "hook.h"
#include "in_flight.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_hook.h"
#include "mm_thread.h"
#include "retry.h"
#include "ring.h"
#include "self_test.h"
#include "session.h"
#include "shadow.h"
#include "tally.h"
#include "target.h"

/* How long unload waits for address spaces being torn down. */
#define EXIT_TEARDOWN_MS 1000
#define EXIT_POLL_MS	 20

/* On a kernel newer than all kernels known to the tests, a session is tried first. */
static bool self_test = PFSTAT_NEWER;
module_param(self_test, bool, 0400);
MODULE_PARM_DESC(self_test,
		 "try a session first (default Y if Linux is newer than " PFSTAT_NEWEST ")");

/*
 * Waits until no CPU can be in this module's code on behalf of a fault.
 *
 * All shadows are disarmed. A thread that had loaded a wrapper's address has entered the wrapper,
 * or never will, after the first grace period. rcu_tasks counts a sleeping task as gone, so calls
 * asleep in I/O are awaited by their count. The second grace period covers the few instructions
 * between a call's last count and the return. There are few or no such calls: the module has held
 * itself until the calls were over (settle.c).
 */
static void drain_calls(void)
{
	/* Nothing was hooked since the module was loaded, so no call came here. */
	if (pfstat_shadow_never_made() && pfstat_mm_hook_never_held())
		return;
	synchronize_rcu_tasks();
	while (pfstat_in_flight_sum() || pfstat_mm_counts_in_flight())
		msleep(EXIT_POLL_MS);
	synchronize_rcu_tasks();
}

/* An exiting mm that was never unhooked may use vm_ops for a while. */
static bool wait_for_teardown(void)
{
	unsigned int waited;

	for (waited = 0; !pfstat_hook_all_gone(); waited += EXIT_POLL_MS) {
		if (waited >= EXIT_TEARDOWN_MS)
			return false;
		msleep(EXIT_POLL_MS);
	}
	return true;
}

/* Leaves nothing behind, once no command comes any more. */
static void leave(void)
{
	bool gone;

	pfstat_mm_hook_exit();
	pfstat_session_exit();
	drain_calls();
	pfstat_retry_exit();
	pfstat_follow_exit();
	gone = wait_for_teardown();
	if (!gone)
		pr_warn("an exiting process may still hold shadow operations: leaking %zu bytes\n",
			pfstat_shadow_bytes());
	pfstat_shadow_exit(!gone);
	pfstat_target_exit();
	pfstat_ring_exit();
	pfstat_tally_exit();
	pfstat_mm_counts_exit();
	pfstat_mm_thread_exit();
}

static int __init pfstat_init(void)
{
	int err;

	pfstat_shadow_init(pfstat_follow_open);
	pfstat_ring_init();
	err = pfstat_tally_init();
	if (err)
		return err;
	err = pfstat_follow_init();
	if (err)
		goto exit_tally;
	if (self_test)
		err = pfstat_self_test(); /* before anything else can use the recorder */
	if (err)
		goto leave;
	err = pfstat_debugfs_init();
	if (err)
		goto leave;
	err = pfstat_device_init();
	if (err)
		goto exit_debugfs;
	if (PFSTAT_NEWER)
		pr_warn("Linux is newer than %s, the newest that pfstat was tested on\n",
			PFSTAT_NEWEST);
	return 0;

exit_debugfs:
	pfstat_debugfs_exit();
leave:
	leave();
	return err;
exit_tally:
	pfstat_tally_exit();
	return err;
}

static void __exit pfstat_exit(void)
{
	pfstat_device_exit();
	pfstat_debugfs_exit();
	leave();
}

module_init(pfstat_init);
module_exit(pfstat_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(PFSTAT_VERSION);
/* The answers from module/probes, by the build's headers. */
MODULE_INFO(probes, PFSTAT_PROBES);
MODULE_DESCRIPTION("Times page faults by wrapping VMA fault handlers");
