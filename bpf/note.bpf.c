// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes what a fault met in the page table (enum pfstat_note), at functions that only rare faults
 * reach. mm.bpf.c notes reads from swap and writes to read-only entries, and sends the note with
 * the fault. No program here runs for a new page, nor for one from the page cache.
 */
#include <linux/ptrace.h>

#include <pfstat/event.h>

#include "common.bpf.h"
#include "fault_state.bpf.h"
#include "graph_probe.bpf.h"
#include "vma.bpf.h"

#define TNF_MIGRATED 0x1

/* What follows the first note has changed the entry. do_swap_page() waits for migrations. */
static __always_inline int fault_met(__u8 note)
{
	struct fault_state *state = fault_state_now();

	if (state && (state->note == PFSTAT_NOTE_UNKNOWN || note == PFSTAT_NOTE_MIGRATION))
		state->note = note;
	return 0;
}

#define NOTING(program, function, note) \
	SEC("fentry/" function)         \
	int BPF_PROG(program)           \
	{                               \
		return fault_met(note); \
	}

NOTING(on_access, "ptep_set_access_flags", PFSTAT_NOTE_PRESENT)
NOTING(on_huge_access, "huge_pmd_set_accessed", PFSTAT_NOTE_PRESENT)
NOTING(on_migration, "migration_entry_wait", PFSTAT_NOTE_MIGRATION)
NOTING(on_huge_migration, "pmd_migration_entry_wait", PFSTAT_NOTE_MIGRATION)
NOTING(on_userfault_wait, "handle_userfault", PFSTAT_NOTE_USERFAULT)

SEC("kprobe.multi/ptep_set_access_flags")
int BPF_KPROBE(on_access_kprobe)
{
	return fault_met(PFSTAT_NOTE_PRESENT);
}

static __always_inline int numa_fault(int flags)
{
	return fault_met(flags & TNF_MIGRATED ? PFSTAT_NOTE_NUMA_MOVED : PFSTAT_NOTE_NUMA_STAYED);
}

SEC("fentry/task_numa_fault")
int BPF_PROG(on_numa_fault, int cpu_pid, int node, int pages, int flags)
{
	return numa_fault(flags);
}

/* Without a huge page to copy to, the kernel splits this one, and calls do_wp_page(). */
static __always_inline int huge_page_is_written(void)
{
	struct fault_state *state = fault_state_now();

	if (!state)
		return 0;
	state->kind = PFSTAT_FAULT_COW;
	state->note = PFSTAT_NOTE_READ_ONLY;
	return 0;
}

SEC("fentry/do_huge_pmd_wp_page")
int BPF_PROG(on_huge_write)
{
	return huge_page_is_written();
}

/* On many kernels this program replaces the others except on_access. The cookie is the note. */
SEC("kprobe.multi")
int BPF_KPROBE(on_note, int cpu_pid, int node, int pages, int flags)
{
	const __u64 note = bpf_get_attach_cookie(ctx);

	switch (note) {
	case PFSTAT_NOTE_NUMA_STAYED:
		return numa_fault(flags);
	case PFSTAT_NOTE_READ_ONLY:
		return huge_page_is_written();
	default:
		return fault_met(note);
	}
}
