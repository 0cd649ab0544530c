/* SPDX-License-Identifier: GPL-2.0-only */
/* By which way programs came to their faults: user stacks, each kept once. */
#ifndef PFSTAT_USER_STACKS_H
#define PFSTAT_USER_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/address_spaces.h"

/* Different ones that are kept. */
#define STACKS_MAX 16384

#define STACKS_NONE  0ULL	/* none was told of the fault */
#define STACKS_OTHER UINT64_MAX /* a new one when STACKS_MAX were there */

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);

/* A thread begins a fault. -ENOMEM. Of 65536 threads at a time; of more, none are known. */
int stacks_add(struct stacks *stacks, const struct pfstat_stack *stack);
void stacks_end_thread(struct stacks *stacks, uint32_t tid);

/* The number of the stack that the fault came by: the same way, the same number. -ENOMEM. */
int stacks_of_fault(struct stacks *stacks, struct spaces *spaces, const struct explained *fault,
		    uint64_t *number);

/*
 * "outermost;…;innermost": symbols where they are known, else "0x… (object)". Where
 * there may be more frames than were told of, "…" is the outermost.
 */
void stacks_print(const struct stacks *stacks, const struct spaces *spaces, uint64_t number,
		  FILE *out);

/* A place in a file that is in any of the stacks. */
struct stack_place {
	uint32_t path;	 /* number, see address_spaces.h */
	uint64_t offset; /* in the file, bytes; of a return: one less */
};

int stacks_visit(const struct stacks *stacks,
		 int (*visit)(void *context, const struct stack_place *place), void *context);
/* The symbol of a place; copied. -ENOMEM. One that is in no stack is no error. */
int stacks_name_place(struct stacks *stacks, const struct stack_place *place, const char *symbol);

#endif
