// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the fault source by trying: the module if it is loaded, else eBPF, else perf. Opens it
 * with eBPF's programs, perf's maps and counters if it needs them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/pins_lock.h"
#include "collect/fault_source_bpf.h"
#include "collect/fault_source_module.h"
#include "collect/fault_source_perf.h"
#include "collect/instruments_open.h"
#include "system/own_process.h"
#include "util/why.h"

static int instruments_open_source(struct instruments *instruments,
				   const struct fault_source_ops *source, struct why *why)
{
	const struct instruments_options *options = &instruments->options;
	const struct fault_source_options source_options = {
		.ring_size = options->ring_size,
		.fault_around = options->fault_around &&
				!(options->exact && source == &fault_source_module),
		.only_fd = options->only_fd,
		.stacks = options->events.stacks,
	};

	return source->open(&instruments->source, &source_options, why);
}

/* Without the programs for all faults, if the source counts them. */
static int instruments_load_events(struct instruments *instruments, struct why *why)
{
	const struct fault_source_ops *source = instruments->source->ops;
	struct events_options options = instruments->options.events;
	int err;

	options.records = source->use_events;
	options.record_bytes = instruments->options.ring_size;
	options.without |= instruments->faults.by_source ? ALL_FAULTS_HOOKS : 0;
	err = events_open(&instruments->events, &options, why);
	instruments->faults.events = instruments->events;
	if (err || !source->use_events)
		return err;
	return source->use_events(instruments->source, instruments->events, why);
}

/* Whether the source can take handle_mm_fault() shows only when it does. */
static int instruments_choose_faults(struct instruments *instruments, struct why *why)
{
	if (all_faults_take(&instruments->faults))
		return 0;
	events_close(instruments->events);
	return instruments_load_events(instruments, why);
}

/* Loads and attaches before anything is watched, and when no earlier program is attached. */
static int instruments_open_events(struct instruments *instruments, struct why *why)
{
	const struct instruments_options *options = &instruments->options;
	struct bpf_cost *cost = &instruments->bpf_cost;
	int err;

	if (instruments->source->ops->stream)
		return 0;
	if (!options->bpf) {
		pins_lock_await_detached();
		return 0;
	}
	all_faults_init(&instruments->faults, instruments->source, &options->events);
	err = instruments_load_events(instruments, why);
	if (err)
		return err;
	bpf_cost_begin(cost);
	err = instruments_choose_faults(instruments, why);
	if (!err)
		err = events_attach(instruments->events, why);
	if (err)
		return err;
	err = bpf_cost_end(cost, &instruments->faults, !options->no_counters);
	if (err)
		return why_fail(why, err, "cannot measure eBPF's cost: %s", strerror(-err));
	return 0;
}

/* Perf names processes as this namespace does, the module and eBPF as the initial one. */
static int instruments_check_namespace(const struct instruments *instruments, struct why *why)
{
	if (!instruments->options.maps || instruments->source->ops->stream ||
	    pid_namespace_is_initial())
		return 0;
	return why_fail(why, -EOPNOTSUPP,
			"cannot match mappings to faults in this PID namespace: the module records "
			"process ids from the initial one; run pfdrive outside the container");
}

/* Opens a source with the instruments it needs. */
static int instruments_open_with(struct instruments *instruments,
				 const struct fault_source_ops *source, struct why *why)
{
	int err = instruments_open_source(instruments, source, why);

	if (!err)
		err = instruments_check_namespace(instruments, why);
	if (!err)
		err = instruments_open_events(instruments, why);
	bpf_cost_close(&instruments->bpf_cost);
	if (err || source->stream)
		return err;
	if (instruments->options.maps)
		err = perf_maps_open(&instruments->maps, why);
	if (!err && !instruments->options.no_counters && perf_faults_open(&instruments->counters))
		err = why_fail(why, -ENOMEM, "out of memory");
	return err;
}

/* Closes all instruments for a failed source, before the next source is tried. */
static void instruments_close_source(struct instruments *instruments)
{
	perf_maps_close(instruments->maps);
	perf_faults_close(instruments->counters);
	events_close(instruments->events);
	if (instruments->events)
		pins_lock_await_detached();
	if (instruments->source)
		instruments->source->ops->close(instruments->source);
	instruments->maps = NULL;
	instruments->counters = NULL;
	instruments->events = NULL;
	instruments->source = NULL;
	instruments->bpf_cost = BPF_COST_NONE;
}

/* What another process holds, or a lack of memory, is an error to report, not to work around. */
static bool instruments_may_replace(int err)
{
	return err && err != -EBUSY && err != -EEXIST && err != -ENOMEM && err != -EMFILE;
}

/* The best source's reason comes first if perf does not work either. */
static int instruments_open_perf(struct instruments *instruments, struct why *why)
{
	const struct why better = *why;
	struct why reason;
	int err;

	snprintf(instruments->bpf_missing, sizeof(instruments->bpf_missing), "%.*s",
		 (int)sizeof(instruments->bpf_missing) - 1,
		 instruments->options.bpf ? better.text : instruments->options.bpf_missing);
	instruments_close_source(instruments);
	err = instruments_open_with(instruments, &fault_source_perf, &reason);
	if (err && better.text[0])
		why_set(why, "%s (and perf does not work either: %s)", better.text, reason.text);
	else if (err)
		*why = reason;
	return err;
}

/* Which source works shows only when it is opened. */
static int instruments_open_best(struct instruments *instruments, struct why *why)
{
	const struct instruments_options *options = &instruments->options;
	const bool loaded = !access("/sys/module/pfstat", F_OK);
	const bool needs_module = !options->fault_around ||
				  (!options->bpf && !options->whole_faults);
	struct why reason = { "" };
	int err = -ENOENT;

	why->text[0] = '\0';
	/* The module's records have no stack. */
	if (needs_module || (loaded && (options->bpf || !options->events.stacks)))
		err = instruments_open_with(instruments, &fault_source_module, why);
	if (!instruments_may_replace(err) || needs_module)
		return err;
	if (options->bpf) {
		instruments_close_source(instruments);
		err = instruments_open_with(instruments, &fault_source_bpf, &reason);
		if (err && !loaded)
			*why = reason;
	}
	if (!instruments_may_replace(err) || !options->whole_faults)
		return err;
	return instruments_open_perf(instruments, why);
}

int instruments_open_all(struct instruments *instruments, struct why *why)
{
	const struct instruments_options *options = &instruments->options;

	snprintf(instruments->bpf_missing, sizeof(instruments->bpf_missing), "%s",
		 options->bpf	      ? "" :
		 options->bpf_missing ?:
					"");
	if (options->source == &fault_source_perf)
		strcpy(instruments->bpf_missing, "--source perf was given");
	return options->source ? instruments_open_with(instruments, options->source, why) :
				 instruments_open_best(instruments, why);
}
