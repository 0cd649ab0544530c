/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The price of memory that a process gives back: the calls that unmap or discard anonymous pages,
 * and the faults that need as much memory again. A call's debt are the pages that faults had
 * touched in its range. A later fault on new anonymous memory of the process, at any address, is
 * paid from the debt of the latest call that has one: if that call had kept the memory, the process
 * could have used it again without a fault.
 *
 * The process touched some pages before the recording, or a fork shared them: these are unknown, and
 * never part of a debt. MADV_FREE is not a debt, because the kernel may leave the pages.
 *
 * Pure, in bounded memory.
 */
#ifndef PFSTAT_USER_GIVEN_BACK_H
#define PFSTAT_USER_GIVEN_BACK_H

#include <stdint.h>

#include "analyze/fault/explain.h"
#include "analyze/shaping_calls.h"

struct given_back;

/* @memory: limit in bytes on the state of pages. NULL: no memory. */
struct given_back *given_back_new(uint64_t page_bytes, size_t memory);
void given_back_free(struct given_back *given_back);

/* Adds items in time order. Each returns 0 or -ENOMEM. */
/* The call was just added to @calls. */
int given_back_add_call(struct given_back *given_back, const struct pfstat_call *call,
			struct shaping_calls *calls);
int given_back_add_fault(struct given_back *given_back, const struct explained *fault,
			 struct shaping_calls *calls);
int given_back_add_task(struct given_back *given_back, const struct pfstat_task *task);

#endif
