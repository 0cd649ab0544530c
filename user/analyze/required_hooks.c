// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/required_hooks.h"
#include "model/counters.h"

static uint32_t hooks_of_fault(const struct pfstat_event *fault)
{
	switch (fault->flags) {
	case PFSTAT_FAULT_SWAP:
		return 1U << HOOK_FAULT | 1U << HOOK_SWAP;
	case PFSTAT_FAULT_COW:
		return 1U << HOOK_FAULT | 1U << HOOK_WP;
	default:
		return 1U << HOOK_FAULT;
	}
}

uint32_t event_hooks(const struct pfstat_event *event)
{
	const struct pfstat_block *block = (const struct pfstat_block *)event;

	switch (event->type) {
	case PFSTAT_EVENT_OFF_CPU:
		return event->flags & PFSTAT_OFF_CPU_WOKEN ? 1U << HOOK_WAKEUP : 0;
	case PFSTAT_EVENT_BLOCK:
		return 1U << HOOK_BLOCK |
		       (block->insert_ns != block->issue_ns ? 1U << HOOK_BLOCK_INSERT : 0);
	case PFSTAT_EVENT_FAULT:
		return hooks_of_fault(event);
	case PFSTAT_EVENT_PAGE:
		return 1U << HOOK_PAGE_DELETE;
	default:
		return 0;
	}
}
