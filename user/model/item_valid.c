// SPDX-License-Identifier: GPL-2.0-only
/*
 * Validates items where they enter the program, from the collectors and from recordings.
 * Consumers index arrays with fields of an item, so every such field is bounded here.
 */
#include <string.h>

#include "model/item_valid.h"
#include "model/mapping_state.h"

/* The largest folio's order, for a 1 GiB huge page. */
#define ORDER_MAX 18

/*
 * A mapping's first page comes from a byte offset of 64 bits, and its size in bytes has 64 bits. So
 * two such numbers of pages of 4 KiB bound a page number. A double holds the sum exactly.
 */
#define PAGE_NUMBERS (2ULL << (64 - 12))

static const size_t event_sizes[] = PFSTAT_EVENT_SIZES;

bool item_valid_record(const struct pfstat_record *record)
{
	return record->op < PFSTAT_NR_OPS && record->class < PFSTAT_NR_CLASSES &&
	       record->before < PFSTAT_NR_BEFORE && record->order <= ORDER_MAX &&
	       record->pgoff < PAGE_NUMBERS;
}

static bool fault_is_known(const struct pfstat_fault *fault)
{
	return PFSTAT_FAULT_KIND(fault->event.flags) < PFSTAT_NR_FAULT_KINDS &&
	       PFSTAT_FAULT_NOTE(fault->event.flags) < PFSTAT_NR_NOTES &&
	       fault->origin < PFSTAT_NR_ORIGINS && fault->outcome < PFSTAT_NR_OUTCOMES &&
	       fault->pgoff < PAGE_NUMBERS;
}

static bool wait_is_known(const struct pfstat_wait *wait)
{
	return wait->event.flags & PFSTAT_WAIT_NAMED ?
		       !!memchr(wait->functions, '\0', sizeof(wait->functions)) :
		       wait->frames <= PFSTAT_WAIT_FRAMES;
}

bool item_valid_event(const struct pfstat_event *event, size_t size)
{
	const struct pfstat_stack *stack = (const void *)event;
	const struct pfstat_task *task = (const void *)event;
	const struct pfstat_page *page = (const void *)event;
	const struct pfstat_userfault *userfault = (const void *)event;
	const struct pfstat_cpu_task *cpu_task = (const void *)event;

	if (size < sizeof(*event) || event->type >= PFSTAT_NR_EVENTS || event->size > size ||
	    event->size != event_sizes[event->type])
		return false;
	switch (event->type) {
	case PFSTAT_EVENT_FAULT:
		return fault_is_known((const void *)event);
	case PFSTAT_EVENT_TASK:
		return memchr(task->comm, '\0', sizeof(task->comm));
	case PFSTAT_EVENT_BLOCK:
		return ((const struct pfstat_block *)event)->pgoff < PAGE_NUMBERS;
	case PFSTAT_EVENT_PAGE:
		return page->pages <= 1U << ORDER_MAX && page->pgoff < PAGE_NUMBERS &&
		       memchr(page->comm, '\0', sizeof(page->comm));
	case PFSTAT_EVENT_CPU_TASK:
		return memchr(cpu_task->comm, '\0', sizeof(cpu_task->comm));
	case PFSTAT_EVENT_STACK:
		return stack->frames <= PFSTAT_STACK_FRAMES;
	case PFSTAT_EVENT_WAIT:
		return wait_is_known((const void *)event);
	case PFSTAT_EVENT_RECLAIM:
		return event->flags < PFSTAT_NR_RECLAIM_KINDS;
	case PFSTAT_EVENT_CALL:
		return ((const struct pfstat_call *)event)->kind < PFSTAT_NR_CALLS;
	case PFSTAT_EVENT_USERFAULT:
		return memchr(userfault->comm, '\0', sizeof(userfault->comm));
	case PFSTAT_EVENT_MAPPING:
		return ((const struct pfstat_mapping *)event)->advice < MAPPING_NR_ADVICES;
	default:
		return true;
	}
}

bool item_valid_map(const struct item_map *map)
{
	return map->pgoff < PAGE_NUMBERS && map->path_bytes &&
	       strnlen(map->path, map->path_bytes) == map->path_bytes - 1;
}
