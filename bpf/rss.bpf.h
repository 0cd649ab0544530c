/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page-table entries of an address space for pages and swap entries. A huge page counts as its
 * small pages, pages of hugetlb do not count. Exact if no thread of the address space runs.
 */
#ifndef PFSTAT_BPF_RSS_H
#define PFSTAT_BPF_RSS_H

#include "common.bpf.h"
#include "kernel_variable.bpf.h"

/* The number of possible CPUs. Set by the loader. */
const volatile __u32 possible_cpus;
/* The kernel has `runqueues`, a variable of each CPU. Set by the loader. */
const volatile bool have_runqueues;

#define RSS_COUNTERS 4 /* file pages, anonymous pages, swap entries, shared memory */

struct percpu_counter {
	long long count;
	int *counters; /* for each CPU, not yet in count */
} __attribute__((preserve_access_index));

/* v6.2 */
struct mm_struct___percpu {
	struct percpu_counter rss_stat[RSS_COUNTERS];
} __attribute__((preserve_access_index));

struct atomic_rss {
	long long counter;
} __attribute__((preserve_access_index));

struct mm_rss_stat {
	struct atomic_rss count[RSS_COUNTERS];
} __attribute__((preserve_access_index));

struct mm_struct___atomic {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

struct rss_sum {
	const int *counters[RSS_COUNTERS];
	__u64 pages;
	bool failed;
};

/* A CPU's copy of a variable has the same distance from the variable for all variables. */
static long rss_add_cpu(__u32 cpu, struct rss_sum *sum)
{
	const void *variable = kernel_variable(PFSTAT_KERNEL_RUNQUEUES);
	const void *own = bpf_per_cpu_ptr(variable, cpu);
	__u64 distance = (__u64)own - (__u64)variable;
	unsigned int i;
	int pages;

	sum->failed = true;
	if (!own)
		return 1;
	/* The verifier refuses sums with one of the two. */
	barrier_var(distance);
	for (i = 0; i < RSS_COUNTERS; i++) {
		if (bpf_probe_read_kernel(&pages, sizeof(pages),
					  (const void *)((__u64)sum->counters[i] + distance)))
			return 1;
		sum->pages += pages;
	}
	sum->failed = false;
	return 0;
}

static __always_inline bool rss_of_percpu(const struct mm_struct___percpu *mm, __u64 *pages)
{
	struct rss_sum sum = {
		.counters = {
			BPF_CORE_READ(mm, rss_stat[0].counters),
			BPF_CORE_READ(mm, rss_stat[1].counters),
			BPF_CORE_READ(mm, rss_stat[2].counters),
			BPF_CORE_READ(mm, rss_stat[3].counters),
		},
		.pages = BPF_CORE_READ(mm, rss_stat[0].count) +
			 BPF_CORE_READ(mm, rss_stat[1].count) +
			 BPF_CORE_READ(mm, rss_stat[2].count) +
			 BPF_CORE_READ(mm, rss_stat[3].count),
	};

	/* A CPU beyond the possible ones: their numbers have gaps. */
	if (!have_runqueues ||
	    bpf_per_cpu_ptr(kernel_variable(PFSTAT_KERNEL_RUNQUEUES), possible_cpus))
		return false;
	bpf_loop(possible_cpus, rss_add_cpu, &sum, 0);
	*pages = sum.pages;
	return !sum.failed;
}

/* Returns false if this kernel does not show it. */
static __always_inline bool rss_of(const struct mm_struct *mm, __u64 *pages)
{
	const struct mm_struct___atomic *atomic = (const void *)mm;
	const struct mm_struct___percpu *percpu = (const void *)mm;

	if (bpf_core_field_exists(percpu->rss_stat))
		return rss_of_percpu(percpu, pages);
	if (!bpf_core_field_exists(atomic->rss_stat))
		return false;
	/* BPF_CORE_READ(): the verifier of Linux 6.1 does not follow a typedef into a struct. */
	*pages = BPF_CORE_READ(atomic, rss_stat.count[0].counter) +
		 BPF_CORE_READ(atomic, rss_stat.count[1].counter) +
		 BPF_CORE_READ(atomic, rss_stat.count[2].counter) +
		 BPF_CORE_READ(atomic, rss_stat.count[3].counter);
	return true;
}

#endif
