/* SPDX-License-Identifier: GPL-2.0-only */
/* What lab d lets you change: the advice, the order of the lookups, and prefetching. */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>

/* A record of the table is one page. */
#define PLAN_RECORD 4096

/*
 * Called once before the lookups. The table of records is mapped at map; its file is open as fd.
 * lookups[0..count-1] are the numbers of the records that will be looked up, in this order. You may
 * change their order, but each must stay.
 */
void plan(int fd, void *map, size_t bytes, size_t *lookups, size_t count);

#endif
