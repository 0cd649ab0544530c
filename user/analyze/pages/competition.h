/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run that competed for memory, beside the same run alone under the same limit: what
 * was counted of both, by whom, and what the competitors did meanwhile.
 */
#ifndef PFSTAT_USER_COMPETITION_H
#define PFSTAT_USER_COMPETITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analyze/fault/explain.h"
#include "analyze/pages/swap_matrix.h"
#include "model/counters.h"

enum competition_figure {
	COMPETITION_ELAPSED,
	COMPETITION_MINFLT,
	COMPETITION_MAJFLT,
	COMPETITION_INBLOCK,
	COMPETITION_OUBLOCK,
	COMPETITION_NVCSW,
	COMPETITION_NIVCSW,
	COMPETITION_READ_AGAIN,
	COMPETITION_GROUP_MAJFLT, /* from here on: of all that competes */
	COMPETITION_REFAULT_ANON,
	COMPETITION_REFAULT_FILE,
	COMPETITION_ACTIVATED,
	COMPETITION_SCANNED,
	COMPETITION_RECLAIMED,
	COMPETITION_LIMIT_HITS,
	COMPETITION_PSWPIN, /* from here on: of the machine */
	COMPETITION_PSWPOUT,
	COMPETITION_SWPIN_ZERO,
	COMPETITION_SWPOUT_ZERO,
	COMPETITION_SWAP_READ,
	COMPETITION_SWAP_EVICTED,
	NR_COMPETITION_FIGURES
};

/* Which of them the kernel's files tell: a count that grows. */
enum competition_file {
	COMPETITION_NO_FILE,
	COMPETITION_MEMORY_STAT,
	COMPETITION_MEMORY_EVENTS,
	COMPETITION_VMSTAT
};

struct competition_name {
	const char *key;    /* in JSON */
	const char *name;   /* for people */
	const char *source; /* who counts it */
	enum competition_file file;
	const char *line; /* of that file */
};

extern const struct competition_name competition_names[NR_COMPETITION_FIGURES];

/* COUNT_NA: not known. */
struct competition_side {
	uint64_t figures[NR_COMPETITION_FIGURES];
	uint64_t faults[NR_FAULT_CLASSES]; /* logical ones of the run */
	uint64_t major[NR_FAULT_CLASSES];  /* of these */
};

void competition_side_init(struct competition_side *side);
/* "name count" a line: those of this file into counts. */
void competition_read(FILE *file, enum competition_file which,
		      uint64_t counts[NR_COMPETITION_FIGURES]);
/* What the files told, less what they told before. COUNT_NA stays. */
void competition_between(const uint64_t *before, const uint64_t *after,
			 struct competition_side *side);

struct competitor_figures {
	uint64_t minflt, majflt; /* of its process, meanwhile */
	uint64_t accesses;
};

struct competition {
	uint64_t bytes; /* of each competitor */
	bool random;	/* else in order */
	unsigned int nr;
	uint64_t limit;	     /* of the cgroup; COUNT_NA: there is none, --unsafe */
	uint64_t swap_bytes; /* of all swap areas */
	struct competition_side alone, with;
	struct competitor_figures competitors[COMPETITORS_MAX];
	bool have_matrix;
	struct swap_matrix matrix;
};

#endif
