/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults added up by where they belong: file, VMA, thread, code. */
#ifndef PFSTAT_USER_GROUPS_H
#define PFSTAT_USER_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "explain.h"

enum group_by {
	GROUP_BY_FILE,
	GROUP_BY_VMA,
	GROUP_BY_THREAD,
	GROUP_BY_CODE,		/* the instruction: pid and address */
	NR_GROUP_BY
};

#define GROUP_BY_NAMES { "file", "vma", "thread", "code" }

struct group {
	char name[256];		/* path, "PID START-END path", "comm (tid)", "symbol+0x1f (object)" */
	uint32_t pid, tid;	/* 0: does not apply */
	uint64_t address;	/* VMA's start, or the code's; 0: does not apply */
	uint64_t inode;
	uint32_t dev;
	uint64_t faults;
	uint64_t major;
	uint64_t total_ns, max_ns;
	uint64_t classes[NR_FAULT_CLASSES];	/* faults of each class */
	uint64_t parts_ns[NR_PARTS];
};

/* Groups kept for one dimension; the rest is added up in one that is named "(others)". */
#define GROUPS_MAX 16384

#endif
