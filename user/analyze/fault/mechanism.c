// SPDX-License-Identifier: GPL-2.0-only
/*
 * The note of the kernel side decides, if it met an entry. Otherwise it is the class, the content
 * and the access. A recording without notes leaves open whether anonymous memory had a page.
 */
#include "analyze/fault/mechanism.h"

#define TRAITS(name, spelling, line, words) { spelling, words, MECHANISM_##line },

const struct mechanism_traits mechanisms[NR_MECHANISMS] = { MECHANISMS(TRAITS) };

static enum mechanism mechanism_of_copy(const struct explained *fault)
{
	switch (fault->content) {
	case PFSTAT_CONTENT_ZERO:
		return MECHANISM_COPY_ZERO;
	case PFSTAT_CONTENT_KSM:
		return MECHANISM_COPY_KSM;
	case PFSTAT_CONTENT_FILE:
		return MECHANISM_COPY_FILE;
	case PFSTAT_CONTENT_FORK:
		return MECHANISM_COPY_FORK;
	case PFSTAT_CONTENT_REUSED:
		break;
	default:
		return MECHANISM_COPY_UNKNOWN;
	}
	switch (fault->note) {
	case PFSTAT_NOTE_UFFD:
		return MECHANISM_WRITABLE_UFFD;
	case PFSTAT_NOTE_CLEAN:
		return MECHANISM_WRITABLE_SOFT_DIRTY;
	case PFSTAT_NOTE_FORKED:
		return MECHANISM_WRITABLE_FORK;
	case PFSTAT_NOTE_OWN:
		return MECHANISM_WRITABLE_OWN;
	default:
		return MECHANISM_WRITABLE_UNKNOWN;
	}
}

/* A page of a shared mapping gets its soft-dirty bit with the first write through the entry. */
static enum mechanism mechanism_of_shared_write(const struct explained *fault)
{
	switch (fault->note) {
	case PFSTAT_NOTE_UFFD:
		return MECHANISM_WRITABLE_UFFD;
	case PFSTAT_NOTE_CLEAN:
		return MECHANISM_SHARED_FIRST;
	case PFSTAT_NOTE_DIRTY:
		return MECHANISM_SHARED_AGAIN;
	default:
		return MECHANISM_SHARED_UNKNOWN;
	}
}

static enum mechanism mechanism_of_file(const struct explained *fault)
{
	switch (fault->content) {
	case PFSTAT_CONTENT_FILE:
		return MECHANISM_COPY_FILE;
	case PFSTAT_CONTENT_NEW:
		return MECHANISM_NEW_SHARED;
	case PFSTAT_CONTENT_PRESENT:
		return fault->major ? MECHANISM_SWAP_READ : MECHANISM_CACHED;
	default:
		return MECHANISM_OTHER_FILE;
	}
}

static enum mechanism mechanism_of_anon(const struct explained *fault)
{
	if (fault->note != PFSTAT_NOTE_EMPTY)
		return MECHANISM_UNKNOWN;
	if (fault->huge_order)
		return MECHANISM_NEW_HUGE_PAGE;
	return fault->flags & PFSTAT_FLAG_WRITE ? MECHANISM_NEW_PAGE : MECHANISM_ZERO_PAGE;
}

static enum mechanism mechanism_of_class(const struct explained *fault)
{
	switch (fault->class) {
	case FAULT_DISK:
	case FAULT_WAIT:
	case FAULT_READAHEAD:
	case FAULT_SHORT:
		return MECHANISM_READ;
	case FAULT_LONG:
	case FAULT_AROUND:
	case FAULT_LOCK:
		return fault->content == PFSTAT_CONTENT_FILE ? MECHANISM_COPY_FILE :
							       MECHANISM_CACHED;
	case FAULT_RACED:
		return MECHANISM_PRESENT;
	case FAULT_MKWRITE:
		return mechanism_of_shared_write(fault);
	case FAULT_FILE:
		return mechanism_of_file(fault);
	case FAULT_ANON:
		return mechanism_of_anon(fault);
	case FAULT_COW:
		return mechanism_of_copy(fault);
	case FAULT_OTHER:
		return fault->huge_order ? MECHANISM_HUGETLB : MECHANISM_UNKNOWN;
	default:
		return MECHANISM_UNKNOWN;
	}
}

static enum mechanism mechanism_of_swap(const struct explained *fault)
{
	if (fault->major)
		return MECHANISM_SWAP_READ;
	return fault->note == PFSTAT_NOTE_SWAP ? MECHANISM_SWAP_CACHE : MECHANISM_UNKNOWN;
}

/* A write to a page of a private mapping is class cow. Other writes are to shared mappings. */
static bool mechanism_is_shared_write(const struct explained *fault)
{
	switch (fault->note) {
	case PFSTAT_NOTE_READ_ONLY:
	case PFSTAT_NOTE_CLEAN:
	case PFSTAT_NOTE_UFFD:
	case PFSTAT_NOTE_DIRTY:
		return fault->class != FAULT_COW;
	default:
		return false;
	}
}

enum mechanism mechanism_of(const struct explained *fault)
{
	if (!fault->solved)
		return fault->result & PFSTAT_RESULT_ERROR ? MECHANISM_FAILED :
							     MECHANISM_UNFINISHED;
	if (fault->perf)
		return MECHANISM_UNKNOWN;
	switch (fault->note) {
	case PFSTAT_NOTE_MIGRATION:
		return MECHANISM_MIGRATION;
	case PFSTAT_NOTE_NUMA_STAYED:
		return MECHANISM_NUMA_STAYED;
	case PFSTAT_NOTE_NUMA_MOVED:
		return MECHANISM_NUMA_MOVED;
	case PFSTAT_NOTE_PRESENT:
		return MECHANISM_PRESENT;
	case PFSTAT_NOTE_USERFAULT:
		return MECHANISM_USERFAULT;
	}
	if (fault->class == FAULT_SWAP)
		return mechanism_of_swap(fault);
	return mechanism_is_shared_write(fault) ? mechanism_of_shared_write(fault) :
						  mechanism_of_class(fault);
}
