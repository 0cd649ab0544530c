// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "threads.h"

#define FIRST_SLOTS 64

void threads_exit(struct threads *threads)
{
	size_t i;

	for (i = 0; i < threads->nr_slots; i++) {
		if (!threads->slots[i])
			continue;
		offcpu_exit(&threads->slots[i]->offcpu);
		free(threads->slots[i]);
	}
	free(threads->slots);
	*threads = (struct threads){ 0 };
}

/* The slot that holds tid, or the free one where it belongs. */
static struct thread **slot_of(struct thread **slots, size_t nr_slots, uint32_t tid)
{
	/* An odd factor: consecutive tids fall far apart, and never into one slot. */
	size_t i = (tid * 2654435769U) & (nr_slots - 1);

	while (slots[i] && slots[i]->tid != tid)
		i = (i + 1) & (nr_slots - 1);
	return &slots[i];
}

static int grow(struct threads *threads)
{
	size_t nr_slots = threads->nr_slots ? 2 * threads->nr_slots : FIRST_SLOTS;
	struct thread **slots = calloc(nr_slots, sizeof(struct thread *));
	size_t i;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < threads->nr_slots; i++)
		if (threads->slots[i])
			*slot_of(slots, nr_slots, threads->slots[i]->tid) = threads->slots[i];
	free(threads->slots);
	threads->slots = slots;
	threads->nr_slots = nr_slots;
	return 0;
}

struct thread *threads_get(struct threads *threads, uint32_t tid)
{
	struct thread **slot;

	if (threads->last && threads->last->tid == tid)
		return threads->last;
	if (2 * threads->count >= threads->nr_slots && grow(threads))
		return NULL;

	slot = slot_of(threads->slots, threads->nr_slots, tid);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->tid = tid;
		threads->count++;
	}
	threads->last = *slot;
	return *slot;
}
