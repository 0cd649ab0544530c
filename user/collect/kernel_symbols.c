// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the addresses of a kernel stack into the names of its functions, when the event is read
 * from its ring. A run has few different addresses, so that nearly all are found in the table.
 */
#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/kernel_symbols.h"
#include "util/array.h"

/* Names of more addresses are looked up each time. */
#define SYMBOLS_MAX 8192

/* Ends a stack whose further functions have no space. */
#define CUT "<..."

/* A name that ends in '*' matches a prefix. */
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

/* A return address may be the first of the next function. */
static bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				struct pfstat_symbol_query *query)
{
	struct bpf_test_run_opts run = {
		.sz = sizeof(run),
		.ctx_in = query,
		.ctx_size_in = sizeof(*query),
	};

	*query = (struct pfstat_symbol_query){ .address = address - 1 };
	if (bpf_prog_test_run_opts(symbols->program, &run))
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
		 fits ? name : CUT + 1);
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
	if (!kernel_symbols_find(symbols, address, &query))
		return true;
	copy = symbols->names.count < SYMBOLS_MAX ? strdup(query.name) : NULL;
	if (copy && hash_add(&symbols->names, address, copy))
		free(copy);
	return kernel_symbols_take(&symbols->named, query.name);
}

const struct pfstat_event *kernel_symbols_apply(struct kernel_symbols *symbols,
						const struct pfstat_event *event)
{
	const struct pfstat_wait *wait = (const void *)event;
	uint32_t i;

	if (event->type != PFSTAT_EVENT_WAIT || event->flags & PFSTAT_WAIT_NAMED)
		return event;
	symbols->named = (struct pfstat_wait){ .event = *event, .off_ns = wait->off_ns };
	symbols->named.event.flags |= PFSTAT_WAIT_NAMED;
	memset(symbols->named.functions, 0, sizeof(symbols->named.functions));
	for (i = 0; i < wait->frames && kernel_symbols_frame(symbols, wait->ips[i]); i++)
		;
	return &symbols->named.event;
}
