// SPDX-License-Identifier: GPL-2.0-only
/* A filter for one file passes the file's events and those without a file. It drops all others. */
#include "runner.h"
#include "user/recording/selection.h"

#define DEV   9
#define INODE 77

static struct file_filter_id ids[] = { { DEV, INODE }, { DEV, INODE + 1 } };
static const struct file_filter filter = { .ids = ids, .nr = 2 };

static bool passes(enum item_type type, const void *data)
{
	struct item item = { .type = type };

	item.record = data;
	return file_filter_passes(&filter, &item);
}

static bool record_passes(uint32_t dev, uint64_t inode)
{
	const struct pfstat_record record = { .dev = dev, .inode = inode };

	return passes(ITEM_RECORD, &record);
}

static bool fault_passes(uint32_t dev, uint64_t inode)
{
	const struct pfstat_fault fault = {
		.event.type = PFSTAT_EVENT_FAULT,
		.dev = dev,
		.inode = inode,
	};

	return passes(ITEM_EVENT, &fault);
}

static bool page_passes(uint32_t dev, uint64_t inode)
{
	const struct pfstat_page page = {
		.event.type = PFSTAT_EVENT_PAGE,
		.dev = dev,
		.inode = inode,
	};

	return passes(ITEM_EVENT, &page);
}

/* dev is the disk here, fs_dev is the dev in a record */
static bool block_passes(uint32_t flags, uint32_t fs_dev, uint64_t inode)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK, .flags = flags },
		.dev = DEV + 1,
		.fs_dev = fs_dev,
		.inode = inode,
	};

	return passes(ITEM_EVENT, &block);
}

TEST(test_a_file_is_identified_by_device_and_inode)
{
	ck_assert(record_passes(DEV, INODE));
	ck_assert(record_passes(DEV, INODE + 1));
	ck_assert(!record_passes(DEV, INODE + 2));
	ck_assert(!record_passes(DEV + 1, INODE));
	ck_assert(fault_passes(DEV, INODE));
	ck_assert(!fault_passes(DEV + 1, INODE));
	ck_assert(!fault_passes(0, 0));
	ck_assert(page_passes(DEV, INODE));
	ck_assert(!page_passes(DEV, INODE + 2));
}

TEST(test_requests_of_unknown_files_pass)
{
	ck_assert(block_passes(PFSTAT_BLOCK_FILE, DEV, INODE));
	ck_assert(!block_passes(PFSTAT_BLOCK_FILE, DEV + 1, INODE));
	ck_assert(!block_passes(PFSTAT_BLOCK_FILE, DEV, INODE + 2));
	ck_assert(block_passes(0, 0, 0));
	ck_assert(!block_passes(PFSTAT_BLOCK_SWAP, 0, 0));
}

TEST(test_events_without_a_file_pass)
{
	const struct pfstat_event stay = { .type = PFSTAT_EVENT_OFF_CPU };
	const struct pfstat_event task = { .type = PFSTAT_EVENT_TASK };
	const struct item_map map = { .inode = INODE + 2, .dev = DEV };

	ck_assert(passes(ITEM_EVENT, &stay));
	ck_assert(passes(ITEM_EVENT, &task));
	ck_assert(passes(ITEM_MAP, &map));
}

TEST(test_no_filter_lets_all_pass)
{
	const struct pfstat_record record = { .dev = DEV, .inode = INODE + 2 };
	const struct item item = { .type = ITEM_RECORD, .record = &record };
	const struct file_filter none = { 0 };

	ck_assert(file_filter_passes(&none, &item));
}
