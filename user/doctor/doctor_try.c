// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tries each fault source as a measurement would, but watches no process. The results are facts;
 * doctor_sources.c judges them.
 */
#include <errno.h>
#include <stdio.h>

#include "collect/events.h"
#include "collect/fault_source_module.h"
#include "doctor/doctor_try.h"
#include "system/bpf_call.h"
#include "system/syscall_filter.h"

static void doctor_try_module(struct doctor_attempt *attempt)
{
	const struct fault_source_options options = { .fault_around = true, .only_fd = -1 };
	struct fault_source *source;

	attempt->err =
		fault_source_module.open(&source, &options, attempt->why, sizeof(attempt->why));
	if (!attempt->err)
		fault_source_module.close(source);
}

void doctor_try_sources(struct doctor_facts *facts)
{
	struct doctor_tries *tries = &facts->tries;

	tries->made = true;
	tries->filtered = syscall_filter_is_set();
	tries->bpf_call = bpf_call_try();
	perf_access_try(&tries->perf);
	doctor_try_module(&tries->module);
	/* Without BTF, libbpf has no types to load them with. */
	tries->bpf.err = facts->btf ? events_try(tries->bpf.why, sizeof(tries->bpf.why)) : -ENOENT;
}
