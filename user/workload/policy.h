/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings for a mapping: advice, read-ahead, populate. */
#ifndef PFSTAT_USER_POLICY_H
#define PFSTAT_USER_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/kernel_settings.h"

#define POLICY_ADVICE_NAMES "normal, random, sequential, willneed"

struct policy {
	int advice;		 /* MADV_*, -1 for no advice */
	int64_t readahead_bytes; /* for the file when it is opened, -1 for the device's */
	bool populate;		 /* all pages, before the first access */
};

#define POLICY_NONE ((struct policy){ .advice = -1, .readahead_bytes = -1 })

/* Parses one of POLICY_ADVICE_NAMES, or returns -EINVAL. */
int policy_parse_advice(struct policy *policy, const char *text);

/*
 * A file copies the read-ahead setting when it is opened (f_ra, file_ra_state_init()), mostly from
 * the device. So change the device's setting only for that moment: begin, open the file, end. A
 * lock admits one program at a time.
 * @bytes: a multiple of the page size. -EOPNOTSUPP: the file system has no separate setting.
 */
struct policy_readahead {
	char path[READAHEAD_SETTING_PATH];
	char before[32];
	int fd; /* for the setting, locked, -1 if there is nothing to restore */
};

#define POLICY_READAHEAD_NONE ((struct policy_readahead){ .fd = -1 })

int policy_readahead_begin(struct policy_readahead *readahead, const char *file, int64_t bytes);
/* Returns 0, or the reason why the old setting could not be restored. */
int policy_readahead_end(struct policy_readahead *readahead);

#endif
