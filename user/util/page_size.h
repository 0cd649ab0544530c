/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This machine's page size, in bytes: 4, 16 or 64 KiB. A recording states its machine's page size,
 * see recording_page_bytes().
 */
#ifndef PFSTAT_USER_PAGE_SIZE_H
#define PFSTAT_USER_PAGE_SIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define PAGE_SIZE_MIN 4096U
#define PAGE_SIZE_MAX 65536U

static inline bool page_size_is_one(uint64_t bytes)
{
	return bytes >= PAGE_SIZE_MIN && bytes <= PAGE_SIZE_MAX && !(bytes & (bytes - 1));
}

static inline uint64_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The number of pages for a number of bytes. The last page may be partial. */
static inline uint64_t page_size_count(uint64_t bytes)
{
	return (bytes + page_size() - 1) / page_size();
}

#endif
