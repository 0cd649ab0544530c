/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's read-ahead rule for a mapping, as a pure model: which fault waits for the disk,
 * which starts a read-ahead, and which finds its page in the cache. The model holds for file
 * systems with single-page folios and for mappings without advice and without fault-around. It has
 * no time: a read ends before the next fault begins.
 */
#ifndef PFSTAT_USER_READAHEAD_RULE_H
#define PFSTAT_USER_READAHEAD_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/fault_class.h"
#include "util/bitmap.h"

struct readahead_rule_options {
	uint64_t pages;	   /* of the file */
	uint64_t window;   /* the device's read-ahead in pages */
	bool warm;	   /* all pages are in the cache */
	bool linux_6_1;	   /* two details of that kernel differ */
	bool retry_is_hit; /* the fault that met a mark counts as two hits */
	bool hits_ignored; /* not the kernel's: hits do not reduce the excess of misses */
};

struct readahead_rule {
	struct readahead_rule_options options;
	struct bitmap *cached, *marked;
	uint64_t start, size, ahead; /* the last window; its mark is at start + size - ahead */
	unsigned int excess;	     /* misses that were not followed by a hit */
};

/* -ENOMEM */
int readahead_rule_open(struct readahead_rule *rule, const struct readahead_rule_options *options);
void readahead_rule_close(struct readahead_rule *rule);

/*
 * The first access to a page of the file. FAULT_DISK: the fault waits for the device.
 * FAULT_READAHEAD: it met the mark of a window, submits the next one and is retried. FAULT_LONG:
 * the page was in the cache.
 */
enum fault_class readahead_rule_fault(struct readahead_rule *rule, uint64_t page);

/*
 * Sets linux_6_1 and retry_is_hit for a kernel of this release (uname -r). Since 6.4 a fault takes
 * the lock of its mapping first. A read-ahead drops it; the kernel then begins the fault again,
 * without FAULT_FLAG_TRIED, so it finds the page once more.
 */
void readahead_rule_set_kernel(struct readahead_rule_options *options, const char *release);

#endif
