/* SPDX-License-Identifier: GPL-2.0-only */
/* The user stacks of faults, each distinct stack stored once. */
#ifndef PFSTAT_USER_STACKS_H
#define PFSTAT_USER_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pfstat/event.h>

#include "analyze/fault/explain.h"
#include "analyze/groups/address_spaces.h"

/* Limit on distinct stacks. */
#define STACKS_MAX 16384

#define STACKS_NONE  0ULL	/* no stack is known for the fault */
#define STACKS_OTHER UINT64_MAX /* a new stack after STACKS_MAX others */

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);

/*
 * Adds the stack of a thread that starts a fault. Keeps stacks for up to 65536 threads at a time,
 * and ignores further threads. Returns 0 or -ENOMEM.
 */
int stacks_add(struct stacks *stacks, const struct pfstat_stack *stack);
void stacks_end_thread(struct stacks *stacks, uint32_t tid);

/* Sets *number to the fault's stack number, which equal stacks share. Returns 0 or -ENOMEM. */
int stacks_of_fault(struct stacks *stacks, struct spaces *spaces, const struct explained *fault,
		    uint64_t *number);

/*
 * Prints "outermost;…;innermost": known symbols, else "0x… (object)". If the stack may
 * have more frames than were recorded, "…" is the outermost.
 */
void stacks_print(const struct stacks *stacks, const struct spaces *spaces, uint64_t number,
		  FILE *out);

/* Like stacks_of_fault(), but the stack has one frame: the interrupted instruction. */
int stacks_of_code(struct stacks *stacks, struct spaces *spaces, const struct explained *fault,
		   uint64_t *number);

/* A frame of a stack. It is valid until the stacks or the spaces change. */
struct stack_frame {
	const void *place;  /* identifies it: frames with the same place are equal */
	const char *symbol; /* "name+0x1f", NULL if not known */
	const char *path;   /* file path, or "" in no file */
	uint64_t offset;    /* in the file, in bytes, or the address without a file */
};

#define STACKS_MAX_FRAMES (PFSTAT_STACK_FRAMES + 1)

/*
 * Fills in the frames, innermost first, and returns their number. The frame "…" ends a stack that
 * may have more frames than were recorded. Unknown stacks have one frame with this name.
 */
size_t stacks_frames(const struct stacks *stacks, const struct spaces *spaces, uint64_t number,
		     struct stack_frame frames[STACKS_MAX_FRAMES]);

/* A place in a file, or an address in no file, occurring in a stack. */
struct stack_place {
	uint32_t path;	 /* number, see address_spaces.h, 0: in no file */
	uint32_t pid;	 /* for an address, else 0 */
	uint64_t offset; /* in the file, in bytes, or the address; less one if it is a return's */
};

int stacks_visit(const struct stacks *stacks,
		 int (*visit)(void *context, const struct stack_place *place), void *context);
/* Copies a place's symbol. A place in no stack is ignored. Returns 0 or -ENOMEM. */
int stacks_name_place(struct stacks *stacks, const struct stack_place *place, const char *symbol);

#endif
