// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the addresses in a kernel stack into function names when the event is read from the ring. A
 * run has few different stacks, so nearly all are found in the table: while pfdrive works, a
 * program on the same CPU waits.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/kernel_symbols.h"
#include "util/array.h"

/* Names for more addresses, and for more stacks, are looked up each time. */
#define SYMBOLS_MAX 8192
#define STACKS_MAX  1024

/* Ends a stack whose further functions have no space. */
#define CUT "<..."

/* A name ending in '*' matches a prefix. */
static const char *const left_out[] = {
	"bpf_*",
	"__bpf_*",
	"__traceiter_*",
	"trace_*",
	"perf_*",
	"__schedule",
	"schedule",
	"io_schedule",
	"io_schedule_*",
	"schedule_timeout*",
	"schedule_*",
	"preempt_schedule*",
	"rt_mutex_*schedule",
	"__cond_resched",
	"0x*",
};

void kernel_symbols_exit(struct kernel_symbols *symbols)
{
	hash_exit(&symbols->names, free);
	hash_exit(&symbols->stacks, free);
}

static bool kernel_symbols_left_out(const char *name)
{
	size_t i, length;

	for (i = 0; i < ARRAY_SIZE(left_out); i++) {
		length = strlen(left_out[i]);
		if (left_out[i][length - 1] == '*' ? !strncmp(name, left_out[i], length - 1) :
						     !strcmp(name, left_out[i]))
			return true;
	}
	return false;
}

/* A return address may be the start of the next function. */
static bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				struct pfstat_symbol_query *query)
{
	*query = (struct pfstat_symbol_query){ .address = address - 1 };
	if (!symbols->lookup(symbols->context, query))
		return false;
	query->name[sizeof(query->name) - 1] = '\0';
	/* "name [module]", "name.part.0", "name.constprop.0" */
	query->name[strcspn(query->name, " .<")] = '\0';
	return true;
}

/* Returns false if it is full. Space for the mark of a cut is always left. */
static bool kernel_symbols_append(struct pfstat_wait *wait, const char *name)
{
	const size_t used = strlen(wait->functions), space = sizeof(wait->functions);
	const bool fits = used + 1 + strlen(name) + strlen(CUT) < space;

	snprintf(wait->functions + used, space - used, "%s%s", used ? "<" : "",
		 fits ? name : &CUT[1]);
	return fits;
}

/* Returns false if the rest of the stack is not needed: it is the way to the fault. */
static bool kernel_symbols_take(struct pfstat_wait *wait, const char *name)
{
	if (!strcmp(name, "handle_mm_fault"))
		return false;
	return kernel_symbols_left_out(name) || kernel_symbols_append(wait, name);
}

static bool kernel_symbols_frame(struct kernel_symbols *symbols, uint64_t address)
{
	const char *name = hash_find(&symbols->names, address);
	struct pfstat_symbol_query query;
	char *copy;

	if (name)
		return kernel_symbols_take(&symbols->named, name);
	if (!kernel_symbols_find(symbols, address, &query)) {
		symbols->incomplete = true;
		return true;
	}
	copy = symbols->names.count < SYMBOLS_MAX ? strdup(query.name) : NULL;
	if (copy && hash_add(&symbols->names, address, copy))
		free(copy);
	return kernel_symbols_take(&symbols->named, query.name);
}

/* The stack as it was sent, and the names. */
struct kernel_stack {
	uint32_t frames;
	uint64_t ips[PFSTAT_WAIT_FRAMES];
	char functions[PFSTAT_WAIT_BYTES];
};

static bool kernel_symbols_is_same(const struct kernel_stack *stack, const struct pfstat_wait *wait)
{
	return stack->frames == wait->frames &&
	       !memcmp(stack->ips, wait->ips, wait->frames * sizeof(*wait->ips));
}

/* Without memory the next event with this stack is named anew. */
static void kernel_symbols_keep(struct kernel_symbols *symbols, uint64_t key,
				const struct pfstat_wait *wait)
{
	struct kernel_stack *stack;

	if (symbols->stacks.count >= STACKS_MAX || hash_find(&symbols->stacks, key))
		return;
	stack = malloc(sizeof(*stack));
	if (!stack)
		return;
	stack->frames = wait->frames;
	memcpy(stack->ips, wait->ips, sizeof(stack->ips));
	memcpy(stack->functions, symbols->named.functions, sizeof(stack->functions));
	if (hash_add(&symbols->stacks, key, stack))
		free(stack);
}

const struct pfstat_event *kernel_symbols_apply(struct kernel_symbols *symbols,
						const struct pfstat_event *event)
{
	const struct pfstat_wait *wait = (const void *)event;
	const struct kernel_stack *stack;
	uint64_t key;
	uint32_t i;

	if (event->type != PFSTAT_EVENT_WAIT || event->flags & PFSTAT_WAIT_NAMED)
		return event;
	key = hash_of(wait->ips, wait->frames * sizeof(*wait->ips));
	stack = hash_find(&symbols->stacks, key);
	symbols->named.event = *event;
	symbols->named.event.flags |= PFSTAT_WAIT_NAMED;
	symbols->named.off_ns = wait->off_ns;
	if (stack && kernel_symbols_is_same(stack, wait)) {
		memcpy(symbols->named.functions, stack->functions, sizeof(stack->functions));
		return &symbols->named.event;
	}
	memset(symbols->named.functions, 0, sizeof(symbols->named.functions));
	symbols->incomplete = false;
	for (i = 0; i < wait->frames && kernel_symbols_frame(symbols, wait->ips[i]); i++)
		;
	if (!symbols->incomplete)
		kernel_symbols_keep(symbols, key, wait);
	return &symbols->named.event;
}
