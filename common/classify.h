/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The class of one file operation call. Pure: the module and the unit tests compile the same
 * source.
 */
#ifndef PFSTAT_CLASSIFY_H
#define PFSTAT_CLASSIFY_H

#include <pfstat/record.h>

struct pfstat_facts {
	__u8 op;     /* enum pfstat_op */
	__u8 before; /* enum pfstat_before */
	/*
	 * The class of this fault's earlier attempts: DISK, WAIT or READAHEAD, or PFSTAT_NR_CLASSES
	 * if none of them.
	 */
	__u8 cause;
	__u8 slept;   /* a voluntary context switch during the call */
	__u32 result; /* PFSTAT_RESULT_* */
};

enum pfstat_class pfstat_classify(const struct pfstat_facts *facts);

#endif
