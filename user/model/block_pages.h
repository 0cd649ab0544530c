/* SPDX-License-Identifier: GPL-2.0-only */
/* The file pages transferred by a block request. Pure. */
#ifndef PFSTAT_USER_BLOCK_PAGES_H
#define PFSTAT_USER_BLOCK_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/event.h>

/* Returns how many bytes of page pgoff precede the transfer. */
uint64_t block_pages_in_page(const struct pfstat_block *block, uint64_t page_bytes);
/* True if the transfer ends within a page. */
bool block_pages_ends_in_page(const struct pfstat_block *block, uint64_t page_bytes);
/*
 * Returns how many pages, whole or in part, are transferred from pgoff on, or 0 if there is no
 * file.
 */
uint64_t block_pages_moved(const struct pfstat_block *block, uint64_t page_bytes);
/* The same for a successful read, else 0. */
uint64_t block_pages_read(const struct pfstat_block *block, uint64_t page_bytes);

#endif
