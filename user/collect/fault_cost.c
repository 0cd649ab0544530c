// SPDX-License-Identifier: GPL-2.0-only
/* Raises faults with known times, and measures the cost of eBPF and perf with them. */
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/fault_cost.h"
#include "collect/perf_counters.h"
#include "model/counters.h"
#include "util/counter.h"
#include "util/time_ns.h"

/*
 * Times this thread's faults on present pages: the fault only maps one. The best of several rounds
 * counts, to exclude interrupts.
 */

#define NR_FAULTS 64
/* The only page of the vDSO is unmapped before each fault, which takes as long as the fault. */
#define NR_VDSO_FAULTS 16
#define PAGE	       ((size_t)sysconf(_SC_PAGESIZE))
/* The first round is not timed: it creates pages and map entries that later rounds use. */
#define ROUNDS 8

int fault_stage_open(struct fault_stage *stage)
{
	int fd = memfd_create("pfdrive", MFD_CLOEXEC), err = 0;
	void *memory = MAP_FAILED;

	*stage = (struct fault_stage){ .pages = NR_FAULTS, .is_written = true };
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, NR_FAULTS * PAGE))
		memory = mmap(NULL, NR_FAULTS * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err = -errno;
	else
		stage->memory = memory;
	close(fd);
	return err;
}

/*
 * The vDSO mapping: it has ->fault but not ->map_pages, so a fault that holds only the VMA lock
 * (since v6.4) is retried under mmap_lock, see vmf_can_call_fault() in mm/memory.c. -ENOENT: the
 * process has no vDSO.
 */
static int fault_stage_open_vdso(struct fault_stage *stage)
{
	*stage = (struct fault_stage){
		.memory = (void *)getauxval(AT_SYSINFO_EHDR),
		.pages = 1,
	};
	return stage->memory ? 0 : -ENOENT;
}

void fault_stage_close(struct fault_stage *stage)
{
	if (stage->memory && stage->is_written)
		munmap((void *)stage->memory, stage->pages * PAGE);
	stage->memory = NULL;
}

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_minflt;
}

/* Cycles in faults only. All pages are unmapped as often as needed. 0: they cannot be unmapped. */
static uint64_t fault_cycles(const struct fault_stage *stage)
{
	const unsigned int nr = stage->is_written ? NR_FAULTS : NR_VDSO_FAULTS;
	volatile char *page;
	uint64_t cycles = 0, start;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		page = stage->memory + i % stage->pages * PAGE;
		if (page == stage->memory &&
		    madvise((void *)page, stage->pages * PAGE, MADV_DONTNEED))
			return 0;
		start = counter_read();
		if (stage->is_written)
			*page = 1;
		else
			(void)*page;
		cycles += counter_read() - start;
	}
	return cycles;
}

/*
 * Faults are stores: fault-around would answer file reads with many pages at a time. The pages stay
 * in the file when they are unmapped, and are not cleared again. The clock lies in the vDSO too, so
 * it is read while the vDSO is mapped. The cycles per nanosecond are computed from the whole round.
 */
static uint64_t time_round(const struct fault_stage *stage)
{
	uint64_t faults = faults_so_far(), start_ns = clock_monotonic_ns();
	uint64_t start = counter_read(), cycles, ns;

	cycles = fault_cycles(stage);
	start = counter_read() - start;
	ns = clock_monotonic_ns() - start_ns;
	faults = faults_so_far() - faults;
	return cycles && faults && start ? (double)cycles / start * ns * 1000 / faults : COUNT_NA;
}

uint64_t fault_stage_time(const struct fault_stage *stage)
{
	uint64_t best = COUNT_NA, ps;
	unsigned int i;

	if (!stage->memory)
		return COUNT_NA;
	time_round(stage);
	for (i = 1; i < ROUNDS; i++) {
		ps = time_round(stage);
		best = ps < best ? ps : best;
	}
	return best;
}

uint64_t fault_stage_difference(uint64_t more, uint64_t less)
{
	return more != COUNT_NA && less != COUNT_NA && more > less ? more - less : COUNT_NA;
}

/*
 * Times this thread's page faults on present pages, first without eBPF, the module's count of all
 * faults and perf's counters, then with them. The difference is their cost, which the report
 * prints.
 */

void bpf_cost_begin(struct bpf_cost *cost)
{
	if (!fault_stage_open(&cost->memory))
		cost->memory_ps = fault_stage_time(&cost->memory);
	if (!fault_stage_open_vdso(&cost->vdso))
		cost->vdso_ps = fault_stage_time(&cost->vdso);
}

void bpf_cost_close(struct bpf_cost *cost)
{
	fault_stage_close(&cost->memory);
	fault_stage_close(&cost->vdso);
}

/* Makes the stage's mapping count as one hooked by the module. */
static bool bpf_cost_hook(const struct fault_stage *stage, const struct all_faults *faults)
{
	return stage->memory && !all_faults_imitate(faults, stage->memory);
}

/* Also n/a if the kernel does not restart each fault. */
static void bpf_cost_measure_again(struct bpf_cost *cost, const struct all_faults *faults)
{
	struct hooked_returns before, after;
	uint64_t watched_ps;

	if (!bpf_cost_hook(&cost->vdso, faults) || all_faults_hooked_returns(faults, &before))
		return;
	watched_ps = fault_stage_time(&cost->vdso);
	if (!all_faults_hooked_returns(faults, &after) &&
	    after.again - before.again == after.ended - before.ended)
		cost->again_ps =
			fault_stage_difference(fault_stage_difference(watched_ps, cost->vdso_ps),
					       cost->hooked_ps);
}

/*
 * If this thread cannot be watched, nothing is measured. That it cannot be unwatched is an error.
 */
static int bpf_cost_measure(struct bpf_cost *cost, const struct all_faults *faults)
{
	const pid_t tid = gettid();
	int err;

	if (all_faults_watch(faults, tid, PFSTAT_TARGET_THREAD))
		return 0;
	if (bpf_cost_hook(&cost->memory, faults))
		cost->hooked_ps =
			fault_stage_difference(fault_stage_time(&cost->memory), cost->memory_ps);
	bpf_cost_measure_again(cost, faults);
	err = all_faults_imitate(faults, NULL);
	cost->other_ps = fault_stage_difference(fault_stage_time(&cost->memory), cost->memory_ps);
	return all_faults_ignore(faults, tid) ?: err;
}

/* A counter that cannot be opened here is missing in the run too. */
static void bpf_cost_count(struct perf_faults **counters)
{
	if (!perf_faults_open(counters) && !perf_faults_hold_thread(*counters, gettid()))
		perf_faults_release_thread(*counters);
}

int bpf_cost_end(struct bpf_cost *cost, const struct all_faults *faults, bool with_counters)
{
	struct perf_faults *counters = NULL;
	int err;

	if (!cost->memory.memory || !all_faults_are_counted(faults))
		return 0;
	if (with_counters)
		bpf_cost_count(&counters);
	err = bpf_cost_measure(cost, faults);
	perf_faults_close(counters);
	return err ? err : all_faults_forget(faults);
}
