// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces all files using libbpf if pfdrive is built without eBPF (BPF=no). Functions opening eBPF
 * fail with the reason, so no caller has a handle for the other functions.
 */
#include <errno.h>
#include <stdio.h>

#include "collect/events.h"
#include "collect/bpf_pins.h"
#include "collect/fault_source_bpf.h"
#include "util/why.h"

#define BUILT_WITHOUT "pfdrive was built without eBPF (BPF=no)"

const bool bpf_is_built_in = false;

int events_open(struct events **events, const struct events_options *options, struct why *why)
{
	(void)options;
	*events = NULL;
	return why_fail(why, -EOPNOTSUPP,
			"cannot load the eBPF programs: " BUILT_WITHOUT "; use --no-bpf");
}

int events_try(struct why *why)
{
	return why_fail(why, -EOPNOTSUPP,
			"cannot load the eBPF programs: " BUILT_WITHOUT "; use --no-bpf");
}

int events_attach(struct events *events, struct why *why)
{
	(void)events;
	return why_fail(why, -EOPNOTSUPP,
			"cannot attach the eBPF programs: " BUILT_WITHOUT "; use --no-bpf");
}

/* After a failed events_open(), too. */
void events_close(struct events *events)
{
	(void)events;
}

uint32_t events_hooks(const struct events *events)
{
	(void)events;
	return 0;
}

int events_watch(struct events *events, pid_t id, enum pfstat_target how)
{
	(void)events;
	(void)id;
	(void)how;
	return -EOPNOTSUPP;
}

int events_ignore(struct events *events, pid_t id)
{
	(void)events;
	(void)id;
	return -EOPNOTSUPP;
}

bool events_is_watched(const struct events *events, pid_t id)
{
	(void)events;
	(void)id;
	return false;
}

void events_stop(struct events *events)
{
	(void)events;
}

int events_find_mapping(const struct events *events, struct pfstat_handler_query *query)
{
	(void)events;
	(void)query;
	return -EOPNOTSUPP;
}

int events_forget(struct events *events)
{
	(void)events;
	return -EOPNOTSUPP;
}

void events_set_wrapper(struct events *events, uint64_t address)
{
	(void)events;
	(void)address;
}

void events_count_swap(struct events *events, bool count)
{
	(void)events;
	(void)count;
}

int events_fd(const struct events *events)
{
	(void)events;
	return -1;
}

int events_drain(struct events *events, event_rings_sink sink, void *context)
{
	(void)events;
	(void)sink;
	(void)context;
	return -EOPNOTSUPP;
}

uint64_t events_received(const struct events *events)
{
	(void)events;
	return 0;
}

int events_counters(const struct events *events, struct run_counters *counters)
{
	(void)events;
	(void)counters;
	return -EOPNOTSUPP;
}

int bpf_pins_keep(uint64_t inode)
{
	(void)inode;
	return -EOPNOTSUPP;
}

static int bpf_none_open(struct fault_source **source, const struct fault_source_options *options,
			 struct why *why)
{
	(void)options;
	*source = NULL;
	return why_fail(why, -EOPNOTSUPP,
			"cannot record calls with eBPF: " BUILT_WITHOUT
			"; load the pfstat module and use --no-bpf");
}

/* The instruments read a source's name and word before they open it. */
const struct fault_source_ops fault_source_bpf = {
	.name = "eBPF",
	.word = "ebpf",
	.open = bpf_none_open,
};
