// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times the wrapper around a do-nothing handler, against a direct call to this handler. The
 * mapping, file and page are made up: private structs, filled as far as the wrapper reads them. The
 * result is the best of several batches, so an interrupt does not distort it. The caches are warm
 * then. The call costs more in a program that uses the caches.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "calibrate.h"
#include "clock.h"
#include "fault.h"
#include "mm_hook.h"
#include "mm_thread.h"
#include "ring.h"
#include "tally.h"

#define BATCHES	    8
#define BATCH_CALLS 256U

typedef vm_fault_t (*fault_handler)(struct vm_fault *vmf);

struct stage {
	struct fault_wrapping wrapping;
	struct vm_area_struct vma;
	struct file file;
	struct inode inode;
	struct super_block sb;
	struct call_tally tally;
	struct page *page;
};

static struct pfstat_cost calibrated;

static vm_fault_t calibrate_null_fault(struct vm_fault *vmf)
{
	return VM_FAULT_LOCKED; /* with vmf->page, which is there already */
}

static bool stage_set(struct stage *stage)
{
	stage->page = alloc_page(GFP_KERNEL);
	if (!stage->page)
		return false;
	stage->wrapping.pristine.fault = calibrate_null_fault;
	stage->wrapping.ops.fault = calibrate_null_fault;
	pfstat_fault_wrap(&stage->wrapping, true);
	stage->vma.vm_ops = &stage->wrapping.ops;
	stage->vma.vm_file = &stage->file;
	stage->file.f_inode = &stage->inode;
	/* An empty page cache, for a call taking the slow path. */
	stage->file.f_mapping = &stage->inode.i_data;
	stage->inode.i_sb = &stage->sb;
	return true;
}

static void stage_strike(struct stage *stage)
{
	if (stage->page)
		__free_page(stage->page);
}

/* state: state of current's fault, where a call's record waits for the fault's end. */
static u64 time_calls(fault_handler handler, struct vm_fault *vmf, unsigned int calls, u8 *state)
{
	struct moment start = pfstat_clock_now();
	unsigned int i;

	OPTIMIZER_HIDE_VAR(handler); /* neither of the two is called in a cheaper way */
	for (i = 0; i < calls; i++) {
		WRITE_ONCE(*state, MM_STATE_OPEN);
		handler(vmf);
	}
	return pfstat_clock_since(&start);
}

static u64 per_call_ps(u64 total_ns, unsigned int calls)
{
	return div_u64(total_ns * 1000, calls);
}

static void calibrate_measure(struct stage *stage, size_t capacity)
{
	unsigned int calls = min_t(size_t, BATCH_CALLS, capacity / 2), i;
	struct vm_fault vmf = {
		.vma = &stage->vma,
		.flags = FAULT_FLAG_USER | FAULT_FLAG_DEFAULT,
		.page = stage->page,
	};
	struct mm_thread *thread = pfstat_mm_hook_is_taken() ? pfstat_mm_thread_borrow() : NULL;
	u64 direct = U64_MAX, wrapped = U64_MAX, ns;
	u8 other, *state = thread ? &thread->state : &other;

	for (i = 0; i < BATCHES; i++) {
		direct = min(direct, time_calls(calibrate_null_fault, &vmf, calls, state));
		if (capacity < BATCHES * BATCH_CALLS)
			pfstat_ring_reset();
		pfstat_tally_reset();
		ns = time_calls(stage->wrapping.ops.fault, &vmf, calls, state);
		if (ns >= wrapped)
			continue;
		wrapped = ns;
		pfstat_tally_sum(&stage->tally);
		calibrated.inside_ps = per_call_ps(stage->tally.total_ns[PFSTAT_CLASS_LONG], calls);
	}
	if (thread)
		pfstat_mm_thread_return(thread);
	if (wrapped > direct)
		calibrated.call_ps = per_call_ps(wrapped - direct, calls);
}

void pfstat_calibrate(size_t capacity)
{
	struct stage *stage = kvzalloc(sizeof(*stage), GFP_KERNEL);

	calibrated = (struct pfstat_cost){};
	if (!stage)
		return;
	if (stage_set(stage))
		calibrate_measure(stage, capacity);
	stage_strike(stage);
	kvfree(stage);
}

struct pfstat_cost pfstat_calibrated(void)
{
	return calibrated;
}
