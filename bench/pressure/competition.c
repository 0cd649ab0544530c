// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the kernel's memory counters before and after a run, and keeps the differences, for a run
 * competing for memory and the same run without competitors. The reports print both sides. A
 * counter missing from one of the two readings is COUNT_NA.
 */
#include <inttypes.h>
#include <string.h>

#include "bench/pressure/competition.h"

#define RUSAGE	"getrusage(2), the run's thread"
#define GROUP	"the cgroup's memory.stat"
#define MACHINE "/proc/vmstat, the machine"

const struct competition_name competition_names[NR_COMPETITION_FIGURES] = {
	[COMPETITION_ELAPSED] = { "elapsed_ns", "accesses, ms", "the clock", 0, NULL },
	[COMPETITION_MINFLT] = { "minflt", "minflt", RUSAGE, 0, NULL },
	[COMPETITION_MAJFLT] = { "majflt", "majflt", RUSAGE, 0, NULL },
	[COMPETITION_INBLOCK] = { "inblock", "inblock", RUSAGE, 0, NULL },
	[COMPETITION_OUBLOCK] = { "oublock", "oublock", RUSAGE, 0, NULL },
	[COMPETITION_NVCSW] = { "nvcsw", "nvcsw", RUSAGE, 0, NULL },
	[COMPETITION_NIVCSW] = { "nivcsw", "nivcsw", RUSAGE, 0, NULL },
	[COMPETITION_READ_AGAIN] = { "read_again", "file pages evicted and read again",
				     "eBPF, the run's thread", 0, NULL },
	[COMPETITION_GROUP_MAJFLT] = { "group_pgmajfault", "pgmajfault", GROUP,
				       COMPETITION_MEMORY_STAT, "pgmajfault" },
	[COMPETITION_REFAULT_ANON] = { "group_workingset_refault_anon", "workingset_refault_anon",
				       GROUP, COMPETITION_MEMORY_STAT, "workingset_refault_anon" },
	[COMPETITION_REFAULT_FILE] = { "group_workingset_refault_file", "workingset_refault_file",
				       GROUP, COMPETITION_MEMORY_STAT, "workingset_refault_file" },
	[COMPETITION_ACTIVATED] = { "group_pgactivate", "pgactivate", GROUP,
				    COMPETITION_MEMORY_STAT, "pgactivate" },
	[COMPETITION_SCANNED] = { "group_pgscan", "pgscan", GROUP, COMPETITION_MEMORY_STAT,
				  "pgscan" },
	[COMPETITION_RECLAIMED] = { "group_pgsteal", "pgsteal", GROUP, COMPETITION_MEMORY_STAT,
				    "pgsteal" },
	[COMPETITION_LIMIT_HITS] = { "group_max", "limit met (max)", "the cgroup's memory.events",
				     COMPETITION_MEMORY_EVENTS, "max" },
	[COMPETITION_PSWPIN] = { "pswpin", "pswpin", MACHINE, COMPETITION_VMSTAT, "pswpin" },
	[COMPETITION_PSWPOUT] = { "pswpout", "pswpout", MACHINE, COMPETITION_VMSTAT, "pswpout" },
	/*
	 * Zero-filled pages, not included in the counts above. In v6.13 and later and in some
	 * stable kernels.
	 */
	[COMPETITION_SWPIN_ZERO] = { "swpin_zero", "swpin_zero", MACHINE, COMPETITION_VMSTAT,
				     "swpin_zero" },
	[COMPETITION_SWPOUT_ZERO] = { "swpout_zero", "swpout_zero", MACHINE, COMPETITION_VMSTAT,
				      "swpout_zero" },
	[COMPETITION_SWAP_READ] = { "swap_read", "pages read from swap", "eBPF, the machine", 0,
				    NULL },
	[COMPETITION_SWAP_EVICTED] = { "swap_evicted", "pages evicted to swap", "eBPF, the machine",
				       0, NULL },
};

static void nothing(uint64_t *counts, size_t nr)
{
	while (nr--)
		*counts++ = COUNT_NA;
}

void competition_side_init(struct competition_side *side)
{
	nothing(side->figures, NR_COMPETITION_FIGURES);
	nothing(side->faults, NR_FAULT_CLASSES);
	nothing(side->major, NR_FAULT_CLASSES);
}

static void competition_take_line(const char *name, uint64_t count, enum competition_file which,
				  uint64_t *counts)
{
	const struct competition_name *figure = competition_names;
	unsigned int i;

	for (i = 0; i < NR_COMPETITION_FIGURES; i++)
		if (figure[i].file == which && !strcmp(figure[i].line, name))
			counts[i] = count;
}

void competition_read(FILE *file, enum competition_file which,
		      uint64_t counts[NR_COMPETITION_FIGURES])
{
	char line[128], name[64];
	unsigned int i;
	uint64_t count;

	for (i = 0; i < NR_COMPETITION_FIGURES; i++)
		if (competition_names[i].file == which)
			counts[i] = COUNT_NA;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %" SCNu64, name, &count) == 2)
			competition_take_line(name, count, which, counts);
}

void competition_between(const uint64_t *before, const uint64_t *after,
			 struct competition_side *side)
{
	unsigned int i;

	for (i = 0; i < NR_COMPETITION_FIGURES; i++) {
		if (competition_names[i].file == COMPETITION_NO_FILE)
			continue;
		side->figures[i] = COUNT_NA;
		if (before[i] != COUNT_NA && after[i] != COUNT_NA && after[i] >= before[i])
			side->figures[i] = after[i] - before[i];
	}
}
