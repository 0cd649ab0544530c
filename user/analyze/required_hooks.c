// SPDX-License-Identifier: GPL-2.0-only
/*
 * Derives from an event of a recording which optional eBPF hooks must have been attached. A hook is
 * required only if the event cannot exist without it.
 */
#include "analyze/required_hooks.h"
#include "model/counters.h"
#include "model/fault_class.h"

uint32_t required_hooks(const struct pfstat_event *event)
{
	const struct pfstat_block *block = (const struct pfstat_block *)event;

	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return event->flags & PFSTAT_OFF_CPU_WOKEN ? 1U << HOOK_WAKEUP : 0;
	case PFSTAT_EVENT_BLOCK:
		return 1U << HOOK_BLOCK |
		       (block->insert_ns != block->issue_ns ? 1U << HOOK_BLOCK_INSERT : 0);
	case PFSTAT_EVENT_FAULT:
		return PFSTAT_FAULT_KIND(event->flags) == PFSTAT_FAULT_HOOKED ?
			       1U << HOOK_FAULT :
			       fault_classes[fault_class_of_kind(PFSTAT_FAULT_KIND(event->flags))]
				       .hooks;
	case PFSTAT_EVENT_PAGE:
		return 1U << (event->flags & PFSTAT_PAGE_ANON ? HOOK_SWAP_OUT : HOOK_PAGE_DELETE);
	case PFSTAT_EVENT_WAIT:
		return 1U << HOOK_WAIT_STACK;
	case PFSTAT_EVENT_RECLAIM:
		return event->flags == PFSTAT_RECLAIM_THROTTLE ? 1U << HOOK_THROTTLE :
								 1U << HOOK_RECLAIM;
	default:
		return 0;
	}
}
