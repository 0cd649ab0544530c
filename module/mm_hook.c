// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes handle_mm_fault() with a direct ftrace call, which the kernel allows for one user per
 * function at a time (eBPF's fentry and fexit are others). The functions called by few faults are
 * traced in the ordinary way, which may have many users.
 */
#define pr_fmt(fmt) "pfstat: " fmt

#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched/numa_balancing.h>
#include <linux/workqueue.h>

#include "attempt.h"
#include "compat.h"
#include "mm_content.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_fault_entry.h"
#include "mm_hook.h"
#include "mm_record.h"
#include "mm_thread.h"
#include "mm_watch.h"

/* For a machine on which another tool needs the function at any time. */
static bool hold_faults = true;
module_param(hold_faults, bool, 0644);
MODULE_PARM_DESC(hold_faults, "count all faults at handle_mm_fault() on request (default Y)");

enum mm_hook_state {
	MM_HOOK_FREE,
	MM_HOOK_TAKEN,
	MM_HOOK_DROPPED, /* faults still come here, and the work item gives the function back */
};

/*
 * Below the session's mutex. The state leaves DROPPED only under this one, and TAKEN only under the
 * session's.
 */
static DEFINE_MUTEX(mm_hook_mutex);
static enum mm_hook_state mm_hook_state;
static bool mm_hook_traced, mm_hook_ever, mm_hook_stays;

/* Functions noting something about the fault, see mm_on_traced(). The most frequent are first. */
enum mm_traced {
	MM_TRACED_WRITE,
	MM_TRACED_ACCESS,
	MM_TRACED_SWAP,
	MM_TRACED_SHARED,
	MM_TRACED_HUGE,
	MM_TRACED_HUGE_WRITE,
	MM_TRACED_HUGE_ACCESS,
	MM_TRACED_NUMA,
	MM_TRACED_MIGRATION,
	MM_TRACED_HUGE_MIGRATION,
	MM_TRACED_USERFAULT,
	NR_MM_TRACED
};

static const struct {
	const char *name;
	bool makes_notes; /* in this kernel: without it the notes are not complete */
} mm_traced[NR_MM_TRACED] = {
	[MM_TRACED_WRITE] = { "do_wp_page", true },
	[MM_TRACED_ACCESS] = { "ptep_set_access_flags", true },
	[MM_TRACED_SWAP] = { "do_swap_page", true },
	[MM_TRACED_SHARED] = { "shmem_add_to_page_cache", false },
	[MM_TRACED_HUGE] = { "do_huge_pmd_anonymous_page", false },
	[MM_TRACED_HUGE_WRITE] = { "do_huge_pmd_wp_page", IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) },
	[MM_TRACED_HUGE_ACCESS] = { "huge_pmd_set_accessed",
				    IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE) },
	[MM_TRACED_NUMA] = { "task_numa_fault", IS_ENABLED(CONFIG_NUMA_BALANCING) },
	[MM_TRACED_MIGRATION] = { "migration_entry_wait", IS_ENABLED(CONFIG_MIGRATION) },
	[MM_TRACED_HUGE_MIGRATION] = { "pmd_migration_entry_wait",
				       IS_ENABLED(CONFIG_ARCH_ENABLE_THP_MIGRATION) },
	[MM_TRACED_USERFAULT] = { "handle_userfault", IS_ENABLED(CONFIG_USERFAULTFD) },
};

static unsigned long mm_traced_functions[NR_MM_TRACED]; /* 0: the kernel does not have it */

#define MM_EXIT_POLL_MS 1000

static void mm_hook_set(enum mm_hook_state state)
{
	WRITE_ONCE(mm_hook_state, state);
	WRITE_ONCE(pfstat_mm_record_times, state == MM_HOOK_TAKEN);
}

/* A traced function's ftrace call is this near to the function's start. */
#define MM_CALL_REACH 16UL

static void notrace mm_on_traced(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	const struct vm_fault *vmf = (const struct vm_fault *)compat_traced_argument(fregs, 0);
	unsigned int i;

	for (i = 0; i < NR_MM_TRACED && ip - mm_traced_functions[i] >= MM_CALL_REACH; i++)
		;
	switch (i) {
	case MM_TRACED_WRITE:
		pfstat_mm_fault_note_write(vmf);
		break;
	case MM_TRACED_ACCESS:
	case MM_TRACED_HUGE_ACCESS:
		pfstat_mm_fault_note(PFSTAT_NOTE_PRESENT);
		break;
	case MM_TRACED_SWAP:
		pfstat_mm_fault_note_swap(vmf);
		break;
	case MM_TRACED_SHARED:
		pfstat_mm_fault_note_shared(compat_traced_argument(fregs, 3));
		break;
	case MM_TRACED_HUGE:
		pfstat_mm_fault_note_huge(vmf);
		break;
	case MM_TRACED_HUGE_WRITE:
		pfstat_mm_fault_note_huge_write(vmf);
		break;
	case MM_TRACED_NUMA:
		pfstat_mm_fault_note(compat_traced_argument(fregs, 3) & TNF_MIGRATED ?
					     PFSTAT_NOTE_NUMA_MOVED :
					     PFSTAT_NOTE_NUMA_STAYED);
		break;
	case MM_TRACED_MIGRATION:
	case MM_TRACED_HUGE_MIGRATION:
		pfstat_mm_fault_note(PFSTAT_NOTE_MIGRATION);
		break;
	case MM_TRACED_USERFAULT:
		pfstat_mm_fault_note(PFSTAT_NOTE_USERFAULT);
		break;
	}
}

static struct ftrace_ops mm_fault_ops, mm_traced_ops;

/* ftrace_free_filter() leaves a pointer to the freed hash. The next use needs a new ops. */
static void mm_ops_renew(struct ftrace_ops *ops)
{
	ftrace_free_filter(ops);
	memset(ops, 0, sizeof(*ops));
}

/* The kernel finds a function by name for a kprobe only. The kprobe is never armed. */
static int mm_find_function(unsigned long *function, const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err = register_kprobe(&probe);

	if (err)
		return err;
	unregister_kprobe(&probe);
	*function = (unsigned long)probe.addr;
	return 0;
}

/* Adds it to the filter. 0 also if the kernel does not have it, or does not trace it. */
static int mm_trace_function(unsigned long *function, const char *name)
{
	int err = *function ? 0 : mm_find_function(function, name);

	if (!err)
		err = ftrace_set_filter_ip(&mm_traced_ops, *function, 0, 0);
	if (err)
		*function = 0;
	return err == -ENOMEM ? err : 0;
}

static int mm_trace(void)
{
	bool has_notes = true;
	unsigned long any = 0;
	unsigned int i;
	int err = 0;

	if (mm_hook_traced) /* see mm_is_released() */
		return -EIO;
	for (i = 0; i < NR_MM_TRACED && !err; i++) {
		err = mm_trace_function(&mm_traced_functions[i], mm_traced[i].name);
		any |= mm_traced_functions[i];
		has_notes &= mm_traced_functions[i] || !mm_traced[i].makes_notes;
	}
	pfstat_mm_fault_has_notes = has_notes;
	pfstat_mm_content_has_shared = mm_traced_functions[MM_TRACED_SHARED];
	/* Without a filter it would trace all functions. */
	if (err || !any)
		return err;
	mm_traced_ops.func = mm_on_traced;
	err = register_ftrace_function(&mm_traced_ops);
	mm_hook_traced = !err;
	return err;
}

/*
 * ftrace refuses if it has shut itself off after an internal error. Then the kernel still calls
 * this module, which must stay, and the ops still belong to ftrace.
 */
static bool mm_is_released(int err)
{
	if (err && !mm_hook_stays) {
		pr_err("the kernel does not give its functions back (error %d): pfstat stays\n",
		       err);
		__module_get(THIS_MODULE);
		mm_hook_stays = true;
	}
	return !err;
}

static void mm_untrace(void)
{
	if (mm_hook_traced && !mm_is_released(unregister_ftrace_function(&mm_traced_ops)))
		return;
	mm_hook_traced = false;
	mm_ops_renew(&mm_traced_ops);
}

/*
 * Is the first instruction an ftrace call, or the space for one? On newer kernels another tool may
 * have put a jump there. Registering then fails with EBUSY.
 */
static bool mm_fault_is_traceable(void)
{
#ifdef CONFIG_X86_64
	static const u8 nop[MCOUNT_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	const u8 *call = (const u8 *)handle_mm_fault + MM_FAULT_CALL;

	return *call == CALL_INSN_OPCODE || *call == JMP32_INSN_OPCODE ||
	       !memcmp(call, nop, sizeof(nop));
#else
	return false;
#endif
}

static int mm_hook_register(void)
{
	int err;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) || !mm_fault_is_traceable())
		return -EOPNOTSUPP;
	err = ftrace_set_filter_ip(&mm_fault_ops, (unsigned long)handle_mm_fault, 0, 0);
	if (!err)
		err = compat_register_direct(&mm_fault_ops, (unsigned long)pfstat_mm_fault_entry);
	if (err)
		mm_ops_renew(&mm_fault_ops);
	/* ftrace does not know the function. */
	return err == -EINVAL ? -EOPNOTSUPP : err;
}

static int mm_hook_begin(void)
{
	int err = pfstat_mm_counts_start();

	if (err)
		return err;
	/*
	 * A fault may still be in flight since the function was last held. The fault's record
	 * waits.
	 */
	pfstat_mm_fault_flush(pfstat_attempt_is_recording());
	err = pfstat_mm_watch_start();
	if (!err)
		err = mm_trace();
	if (!err)
		err = mm_hook_register();
	if (err) {
		mm_untrace();
		pfstat_mm_watch_stop();
		return err;
	}
	static_branch_enable(&pfstat_mm_holds);
	mm_hook_ever = true;
	return 0;
}

static void mm_hook_end(void)
{
	/* Faults no longer coming here are not missed. */
	pfstat_mm_ignore_all();
	if (!mm_is_released(compat_unregister_direct(&mm_fault_ops,
						     (unsigned long)pfstat_mm_fault_entry)))
		return;
	mm_ops_renew(&mm_fault_ops);
	mm_untrace();
	pfstat_mm_watch_stop();
	pfstat_mm_fault_flush(pfstat_attempt_is_recording());
	static_branch_disable(&pfstat_mm_holds);
	mm_hook_set(MM_HOOK_FREE);
}

static void mm_hook_work(struct work_struct *work)
{
	mutex_lock(&mm_hook_mutex);
	if (READ_ONCE(mm_hook_state) == MM_HOOK_DROPPED)
		mm_hook_end();
	mutex_unlock(&mm_hook_mutex);
}

static DECLARE_WORK(mm_hook_drop_work, mm_hook_work);

int pfstat_mm_hook_take(void)
{
	int err = hold_faults ? mutex_lock_killable(&mm_hook_mutex) : -EPERM;

	if (err)
		return err;
	pfstat_mm_fault_imitate(0); /* an earlier session may have ended with another one */
	if (READ_ONCE(mm_hook_state) == MM_HOOK_FREE)
		err = mm_hook_begin();
	if (!err)
		mm_hook_set(MM_HOOK_TAKEN);
	mutex_unlock(&mm_hook_mutex);
	return err;
}

void pfstat_mm_hook_drop(void)
{
	if (!pfstat_mm_hook_is_taken())
		return;
	pfstat_mm_ignore_all();
	mm_hook_set(MM_HOOK_DROPPED);
	schedule_work(&mm_hook_drop_work);
}

int pfstat_mm_hook_drop_now(void)
{
	int err = mutex_lock_killable(&mm_hook_mutex);

	if (err)
		return err;
	if (READ_ONCE(mm_hook_state) != MM_HOOK_FREE)
		mm_hook_end();
	err = pfstat_mm_hook_is_held() ? -EIO : 0;
	mutex_unlock(&mm_hook_mutex);
	return err;
}

bool pfstat_mm_hook_is_taken(void)
{
	return READ_ONCE(mm_hook_state) == MM_HOOK_TAKEN;
}

bool pfstat_mm_hook_is_held(void)
{
	return READ_ONCE(mm_hook_state) != MM_HOOK_FREE;
}

bool pfstat_mm_hook_never_held(void)
{
	return !mm_hook_ever;
}

bool pfstat_mm_hook_has_swap(void)
{
	return mm_hook_traced && mm_traced_functions[MM_TRACED_SWAP];
}

bool pfstat_mm_hook_has_write(void)
{
	return mm_hook_traced && mm_traced_functions[MM_TRACED_WRITE];
}

void pfstat_mm_hook_exit(void)
{
	cancel_work_sync(&mm_hook_drop_work);
	if (pfstat_mm_hook_is_held())
		mm_hook_end();
	while (pfstat_mm_hook_is_held() || mm_hook_traced)
		msleep(MM_EXIT_POLL_MS);
}
