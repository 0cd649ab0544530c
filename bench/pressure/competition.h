/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a run competing for memory with the same run without competitors under the same limit:
 * both sides' counts and their sources, and the competitors' activity.
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
	COMPETITION_GROUP_MAJFLT, /* from here on for all processes in the cgroup */
	COMPETITION_REFAULT_ANON,
	COMPETITION_REFAULT_FILE,
	COMPETITION_ACTIVATED,
	COMPETITION_SCANNED,
	COMPETITION_RECLAIMED,
	COMPETITION_LIMIT_HITS,
	COMPETITION_PSWPIN, /* from here on for the whole machine */
	COMPETITION_PSWPOUT,
	COMPETITION_SWPIN_ZERO,
	COMPETITION_SWPOUT_ZERO,
	COMPETITION_SWAP_READ,
	COMPETITION_SWAP_EVICTED,
	NR_COMPETITION_FIGURES
};

/* The kernel file with a figure, as a growing count. */
enum competition_file {
	COMPETITION_NO_FILE,
	COMPETITION_MEMORY_STAT,
	COMPETITION_MEMORY_EVENTS,
	COMPETITION_VMSTAT
};

struct competition_name {
	const char *key;    /* in JSON */
	const char *name;   /* in text */
	const char *source; /* the kernel file or tool counting it */
	enum competition_file file;
	const char *line; /* line name in this file */
};

extern const struct competition_name competition_names[NR_COMPETITION_FIGURES];

/* COUNT_NA: not known. */
struct competition_side {
	uint64_t figures[NR_COMPETITION_FIGURES];
	uint64_t faults[NR_FAULT_CLASSES]; /* the run's logical faults */
	uint64_t major[NR_FAULT_CLASSES];  /* only the major ones */
};

void competition_side_init(struct competition_side *side);
/* Parses "name count" lines into counts. A count missing from the file is COUNT_NA. */
void competition_read(FILE *file, enum competition_file which,
		      uint64_t counts[NR_COMPETITION_FIGURES]);
/* Stores the differences of two readings. A figure stays COUNT_NA if a reading lacks it. */
void competition_between(const uint64_t *before, const uint64_t *after,
			 struct competition_side *side);

struct competitor_figures {
	uint64_t minflt, majflt; /* for the competitor's process, during the run */
	uint64_t accesses;
};

struct competition {
	struct report_study study; /* how a report prints it. First, so the address is the same */
	uint64_t bytes;		   /* per competitor */
	bool random;		   /* false: in order */
	unsigned int nr;
	uint64_t limit;	     /* cgroup limit, or COUNT_NA if none, with --unsafe */
	uint64_t swap_bytes; /* in all swap areas */
	struct competition_side alone, with;
	struct competitor_figures competitors[COMPETITORS_MAX];
	bool have_matrix;
	struct swap_matrix matrix;
};

/* A section in the tables, for runs that all have a competition. 0 or a negative errno. */
int table_competition(FILE *out, const struct view *views, size_t nr);

#endif
