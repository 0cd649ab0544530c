/* SPDX-License-Identifier: GPL-2.0-only */
/* What may be asked of the kernel about a mapping: advice, read-ahead, populate. */
#ifndef PFSTAT_USER_ADVICE_H
#define PFSTAT_USER_ADVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/readahead_setting.h"

#define POLICY_ADVICE_NAMES "normal, random, sequential, willneed"

struct policy {
	int advice;		 /* MADV_*; -1: none is given */
	int64_t readahead_bytes; /* of the file as it is opened; -1: the device's */
	bool populate;		 /* all pages, before the first access */
};

#define POLICY_NONE ((struct policy){ .advice = -1, .readahead_bytes = -1 })

/* One of POLICY_ADVICE_NAMES; -EINVAL. */
int policy_parse_advice(struct policy *policy, const char *text);

/*
 * A file takes its read-ahead over from its file system when it is opened (f_ra,
 * file_ra_state_init()), mostly the device's. So that is set for just that moment:
 * begin, open the file, end; one program at a time. bytes: whole pages. -EOPNOTSUPP: this
 * file system has none of its own.
 */
struct policy_readahead {
	char path[READAHEAD_SETTING_PATH];
	char before[32];
	int fd; /* of the setting, locked; -1: nothing to put back */
};

#define POLICY_READAHEAD_NONE ((struct policy_readahead){ .fd = -1 })

int policy_readahead_begin(struct policy_readahead *readahead, const char *file, int64_t bytes);
/* 0, or why the device's setting is not as it was. */
int policy_readahead_end(struct policy_readahead *readahead);

#endif
