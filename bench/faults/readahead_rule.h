/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's read-ahead rule for a mapping, as a pure model: which fault waits for the disk,
 * which starts a read-ahead, and which finds the page in the cache. The model holds for file
 * systems with single-page folios and for mappings without advice and without fault-around. The
 * model has no time: a read ends before the next fault starts.
 */
#ifndef PFSTAT_USER_READAHEAD_RULE_H
#define PFSTAT_USER_READAHEAD_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/fault_class.h"
#include "util/bitmap.h"

struct readahead_rule_options {
	uint64_t pages;	   /* file size */
	uint64_t window;   /* the device's read-ahead in pages */
	bool warm;	   /* all pages are in the cache */
	bool linux_6_1;	   /* this kernel differs in two details */
	bool retry_is_hit; /* a fault meeting a mark counts as two hits */
	bool hits_ignored; /* unlike the kernel, hits do not reduce the excess misses */
};

struct readahead_rule {
	struct readahead_rule_options options;
	struct bitmap *cached, *marked;
	uint64_t start, size, ahead; /* the last window, with the mark at start + size - ahead */
	unsigned int excess;	     /* misses not followed by a hit */
};

/* -ENOMEM */
int readahead_rule_open(struct readahead_rule *rule, const struct readahead_rule_options *options);
void readahead_rule_close(struct readahead_rule *rule);

/*
 * The first access to a page in the file. FAULT_DISK: the fault waits for the device.
 * FAULT_READAHEAD: the fault met a window's mark, submits the next window and is retried.
 * FAULT_LONG: the page was in the cache.
 */
enum fault_class readahead_rule_fault(struct readahead_rule *rule, uint64_t page);

/*
 * Sets linux_6_1 and retry_is_hit for a kernel release (uname -r). Since 6.4 a fault first takes
 * the lock of the mapping. A read-ahead drops the lock. The kernel then restarts the fault without
 * FAULT_FLAG_TRIED, so the fault finds the page once more.
 */
void readahead_rule_set_kernel(struct readahead_rule_options *options, const char *release);

#endif
