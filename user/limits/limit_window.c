// SPDX-License-Identifier: GPL-2.0-only
/* A window that slides over a measurement's sums. If the ring is full, the window gets shorter. */
#include <errno.h>
#include <stdlib.h>

#include "limits/limit_window.h"
#include "model/item.h"

int limit_window_open(struct limit_window *window, uint64_t window_ns, uint64_t step_ns)
{
	*window = (struct limit_window){
		.window_ns = window_ns,
		.size = window_ns / step_ns + 2,
	};
	window->marks = calloc(window->size, sizeof(*window->marks));
	return window->marks ? 0 : -ENOMEM;
}

void limit_window_close(struct limit_window *window)
{
	free(window->marks);
	*window = (struct limit_window){ 0 };
}

static void drop_first(struct limit_window *window)
{
	window->first = (window->first + 1) % window->size;
	window->nr--;
}

struct limit_sums limit_window_add(struct limit_window *window, uint64_t now_ns,
				   const struct limit_sums *sums)
{
	const struct limit_sums *first;

	while (window->nr && window->marks[window->first].ns + window->window_ns < now_ns)
		drop_first(window);
	if (window->nr == window->size)
		drop_first(window);
	window->marks[(window->first + window->nr++) % window->size] =
		(struct limit_mark){ now_ns, *sums };
	first = &window->marks[window->first].sums;
	return (struct limit_sums){
		.major = sums->major - first->major,
		.fault_ns = sums->fault_ns - first->fault_ns,
		.busy_ns = sums->busy_ns - first->busy_ns,
		/* An interval that begins before a fault can end after it. */
		.active_ns = item_elapsed(first->active_ns, sums->active_ns),
		.waiting_ns = item_elapsed(first->waiting_ns, sums->waiting_ns),
	};
}
