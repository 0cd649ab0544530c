/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a run that competed for memory with the same run without competitors under the same
 * limit: the counts of both and their sources, and the activity of the competitors.
 */
#ifndef PFSTAT_USER_COMPETITION_H
#define PFSTAT_USER_COMPETITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analyze/fault/explain.h"
#include "bench/pressure/swap_matrix.h"
#include "model/counters.h"
#include "report/report.h"

enum competition_figure {
	COMPETITION_ELAPSED,
	COMPETITION_MINFLT,
	COMPETITION_MAJFLT,
	COMPETITION_INBLOCK,
	COMPETITION_OUBLOCK,
	COMPETITION_NVCSW,
	COMPETITION_NIVCSW,
	COMPETITION_READ_AGAIN,
	COMPETITION_GROUP_MAJFLT, /* from here on: of all processes in the cgroup */
	COMPETITION_REFAULT_ANON,
	COMPETITION_REFAULT_FILE,
	COMPETITION_ACTIVATED,
	COMPETITION_SCANNED,
	COMPETITION_RECLAIMED,
	COMPETITION_LIMIT_HITS,
	COMPETITION_PSWPIN, /* from here on: of the whole machine */
	COMPETITION_PSWPOUT,
	COMPETITION_SWPIN_ZERO,
	COMPETITION_SWPOUT_ZERO,
	COMPETITION_SWAP_READ,
	COMPETITION_SWAP_EVICTED,
	NR_COMPETITION_FIGURES
};

/* The kernel file that holds a figure, as a count that grows. */
enum competition_file {
	COMPETITION_NO_FILE,
	COMPETITION_MEMORY_STAT,
	COMPETITION_MEMORY_EVENTS,
	COMPETITION_VMSTAT
};

struct competition_name {
	const char *key;    /* in JSON */
	const char *name;   /* in text */
	const char *source; /* the kernel file or tool that counts it */
	enum competition_file file;
	const char *line; /* name of its line in that file */
};

extern const struct competition_name competition_names[NR_COMPETITION_FIGURES];

/* COUNT_NA: not known. */
struct competition_side {
	uint64_t figures[NR_COMPETITION_FIGURES];
	uint64_t faults[NR_FAULT_CLASSES]; /* logical faults of the run */
	uint64_t major[NR_FAULT_CLASSES];  /* of these, major ones */
};

void competition_side_init(struct competition_side *side);
/* Parses lines of "name count" into counts. A count that the file lacks is COUNT_NA. */
void competition_read(FILE *file, enum competition_file which,
		      uint64_t counts[NR_COMPETITION_FIGURES]);
/* Stores the differences of two readings. A figure stays COUNT_NA if a reading lacks it. */
void competition_between(const uint64_t *before, const uint64_t *after,
			 struct competition_side *side);

struct competitor_figures {
	uint64_t minflt, majflt; /* of its process, during the run */
	uint64_t accesses;
};

struct competition {
	struct report_study
		study;	/* how a report prints it; first, so that it is the same address */
	uint64_t bytes; /* of each competitor */
	bool random;	/* false: in order */
	unsigned int nr;
	uint64_t limit;	     /* of the cgroup; COUNT_NA: none, with --unsafe */
	uint64_t swap_bytes; /* of all swap areas */
	struct competition_side alone, with;
	struct competitor_figures competitors[COMPETITORS_MAX];
	bool have_matrix;
	struct swap_matrix matrix;
};

/* A section of the tables, of runs that all have a competition. 0 or a negative errno. */
int table_competition(FILE *out, const struct view *views, size_t nr);

#endif
