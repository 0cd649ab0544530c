// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the fault source, eBPF, perf's maps and counters, and the collector that merges their
 * events for the caller's sink. At the end it stores all their counters in one struct run_counters.
 * If an instrument cannot be read, the others are still stopped and read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/pins_lock.h"
#include "collect/instruments_open.h"
#include "privilege/privilege.h"
#include "util/why.h"

const struct fault_source_ops *instruments_source(const struct instruments *instruments)
{
	return instruments->source->ops;
}

bool instruments_have_events(const struct instruments *instruments)
{
	return instruments->events || instruments->source->ops->stream;
}

bool instruments_user_only(const struct instruments *instruments)
{
	const struct fault_source *source = instruments->source;

	return source->ops->stream && source->ops->stream->user_only(source);
}

const char *instruments_bpf_missing(const struct instruments *instruments)
{
	return instruments->bpf_missing;
}

int instruments_open(struct instruments **opened, const struct instruments_options *options,
		     struct why *why)
{
	struct instruments *instruments = calloc(1, sizeof(*instruments));
	int err = 0;

	*opened = NULL;
	if (!instruments)
		return why_fail(why, -ENOMEM, "out of memory");
	instruments->options = *options;
	instruments->bpf_cost = BPF_COST_NONE;
	if (options->cpus)
		instruments->cpus = *options->cpus;
	else
		err = cpus_read(&instruments->cpus);
	if (err)
		why_errno(why, err, "cannot read the CPU affinity");
	else
		err = instruments_open_all(instruments, why);
	if (err) {
		instruments_close(instruments);
		return err;
	}
	*opened = instruments;
	return 0;
}

/* eBPF recognises faults on hooked files by the address. */
static int instruments_set_wrapper(struct instruments *instruments, struct why *why)
{
	uint64_t address;
	int err = instruments->source->ops->wrapper(instruments->source, &address);

	if (err)
		return why_errno(why, err, "cannot read the wrapper's address from the module");
	events_set_wrapper(instruments->events, address);
	return 0;
}

/*
 * The rings exist from the first target on. eBPF gets the wrapper's address before the first eBPF
 * target, so a hooked file's fault is never counted as another's. The collector thread's priority
 * is raised here, before privileges are given up. No process is created until instruments_go().
 */
static int instruments_open_collector(struct instruments *instruments, struct why *why)
{
	const struct instruments_options *options = &instruments->options;
	const struct collector_options collector_options = {
		.sink = options->sink,
		.sink_context = options->sink_context,
		.source = instruments->source,
		.events = instruments->events,
		.maps = instruments->maps,
		.cpus = &instruments->cpus,
		.tick_ms = options->tick_ms,
		.tick_drains = options->tick_drains,
		.tick = options->tick,
		.tick_context = options->tick_context,
		.failed = options->failed,
		.failed_context = options->failed_context,
	};
	int err;

	if (instruments->collector)
		return 0;
	err = instruments->source->ops->start(instruments->source) ?:
		      collector_open(&instruments->collector, &collector_options);
	if (err)
		return why_errno(why, err, "cannot read the record rings");
	if (!instruments->source->ops->stream)
		priority_raise(&instruments->priority);
	return instruments->events ? instruments_set_wrapper(instruments, why) : 0;
}

int instruments_hook_file(struct instruments *instruments, int fd, const char *path,
			  struct why *why)
{
	struct fault_source *source = instruments->source;
	int err = source->ops->hook_file(source, fd, path, why);

	return err ?: instruments_open_collector(instruments, why);
}

int instruments_hook_nothing(struct instruments *instruments, struct why *why)
{
	struct fault_source *source = instruments->source;
	int err = source->ops->hook_nothing(source, why);

	return err ?: instruments_open_collector(instruments, why);
}

/* /proc hides another user's process from a reader without the right to trace it. */
static int instruments_explain_maps(int err, pid_t pid, struct why *why)
{
	const uint64_t needed = CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_PERFMON);
	char names[CAPABILITY_NAMES_SIZE];

	if ((err == -EACCES || err == -EPERM) && capabilities_lack(needed, names, sizeof(names)))
		why_set(why, "cannot watch process %d's mappings without %s; run as root with it",
			pid, names);
	else
		why_set(why, "cannot watch process %d's mappings: %s", pid, strerror(-err));
	return err;
}

/* perf's counts are a second opinion: without them they are n/a. */
static int instruments_watch_maps(struct instruments *instruments, pid_t pid, bool existing,
				  struct why *why)
{
	int err = 0;

	if (instruments->maps)
		err = perf_maps_watch(instruments->maps, pid, existing);
	if (instruments->counters)
		perf_faults_watch(instruments->counters, pid, true);
	return err ? instruments_explain_maps(err, pid, why) : 0;
}

int instruments_follow(struct instruments *instruments, pid_t pid, bool existing, struct why *why)
{
	struct fault_source *source = instruments->source;
	int err, maps_err;

	err = source->ops->follow(source, pid, existing, why);
	if (!err)
		err = instruments_open_collector(instruments, why);
	if (err)
		return err;
	/* The process's faults are worth more than names, once others are recorded. */
	maps_err = instruments_watch_maps(instruments, pid, existing, why);
	if (maps_err && (!instruments->going || maps_err == -ESRCH))
		return maps_err;
	if (instruments->events)
		err = all_faults_watch(&instruments->faults, pid, PFSTAT_TARGET_FOLLOW);
	if (err)
		return why_errno(why, err, "cannot add a process to eBPF");
	return maps_err ? 1 : 0;
}

void instruments_see_code(struct instruments *instruments)
{
	struct fault_source *source = instruments->source;

	if (source->ops->stream)
		source->ops->stream->see_code(source);
	else if (instruments->maps)
		perf_maps_see_code(instruments->maps);
}

const struct code_files *instruments_code_files(const struct instruments *instruments)
{
	const struct fault_source *source = instruments->source;

	if (source->ops->stream)
		return source->ops->stream->code_files(source);
	return instruments->maps ? perf_maps_code_files(instruments->maps) : NULL;
}

bool instruments_are_on(const struct instruments *instruments, pid_t pid)
{
	return instruments->events && events_is_watched(instruments->events, pid);
}

static int instruments_keep_mapping(void *context, const struct pfstat_mapping *mapping)
{
	struct instruments *instruments = context;
	struct pfstat_mapping *grown =
		reallocarray(instruments->mappings, instruments->nr_mappings + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	instruments->mappings = grown;
	grown[instruments->nr_mappings++] = *mapping;
	return 0;
}

/*
 * /proc/PID/maps has no advice, and smaps costs too much (proc_maps.h). If the source cannot be
 * read, the advice remains unknown.
 */
static void instruments_set_advice(struct instruments *instruments)
{
	const struct fault_source *source = instruments->source;

	if (!instruments->maps || !source->ops->mappings)
		return;
	if (!source->ops->mappings(source, instruments_keep_mapping, instruments))
		perf_maps_set_advice(instruments->maps, instruments->mappings,
				     instruments->nr_mappings);
	instruments->nr_mappings = 0;
}

int instruments_go(struct instruments *instruments, struct why *why)
{
	int err;

	instruments_set_advice(instruments);
	err = collector_start(instruments->collector);
	priority_restore(&instruments->priority);
	instruments->going = !err;
	return err ? why_errno(why, err, "cannot start the thread that reads the rings") : 0;
}

static int instruments_take_events(struct instruments *instruments, struct run_counters *counters)
{
	counters->events_received =
		events_received(instruments->events) + collector_faults(instruments->collector);
	return instruments_counts(instruments, counters);
}

struct first_error {
	int err;
	struct why *why;
};

static void instruments_note(struct first_error *first, int err, const char *what)
{
	if (err && !first->err)
		first->err = why_errno(first->why, err, what);
}

static int instruments_take_source_counters(const struct instruments *instruments,
					    struct run_counters *counters)
{
	const struct fault_source *source = instruments->source;
	struct fault_source_counters read;
	int err = source->ops->counters(source, &read);

	counters->calls = read.calls;
	counters->lost = read.lost;
	counters->call_cost_ps = read.call_cost_ps;
	counters->inside_ps = read.inside_ps;
	return err;
}

static void instruments_take_counters(struct instruments *instruments,
				      struct run_counters *counters)
{
	if (!instruments->counters)
		return;
	perf_faults_stop(instruments->counters);
	perf_faults_read(instruments->counters, &counters->perf_faults, &counters->perf_minor,
			 &counters->perf_major);
}

/* The collector's thread has ended. */
static int instruments_pass_mappings(const struct instruments *instruments)
{
	struct item item = { .type = ITEM_EVENT };
	int err = 0;
	size_t i;

	for (i = 0; i < instruments->nr_mappings && !err; i++) {
		item.event = &instruments->mappings[i].event;
		item.ns = item.event->ns;
		err = instruments->options.sink(instruments->options.sink_context, &item);
	}
	return err;
}

/*
 * The source knows the mappings until it is stopped. No other step needs an earlier one: all are
 * made, and the first error is reported.
 */
int instruments_stop(struct instruments *instruments, struct run_counters *counters,
		     struct why *why)
{
	const struct fault_source *source = instruments->source;
	struct first_error first = { .why = why };
	char stop[64], counts[64];

	snprintf(stop, sizeof(stop), "cannot stop %s", source->ops->name);
	snprintf(counts, sizeof(counts), "cannot read the counts of %s", source->ops->name);
	if (source->ops->mappings)
		instruments_note(&first,
				 source->ops->mappings(source, instruments_keep_mapping,
						       instruments),
				 "cannot read mapping read-ahead from the module");
	instruments_note(&first, source->ops->stop(instruments->source), stop);
	if (instruments->events)
		events_stop(instruments->events);
	if (instruments->maps)
		perf_maps_stop(instruments->maps);
	instruments_take_counters(instruments, counters);
	instruments_note(&first, collector_stop(instruments->collector), "cannot read the records");
	instruments_note(&first, instruments_pass_mappings(instruments),
			 "cannot pass on mapping read-ahead");
	if (instruments->maps) {
		counters->maps_lost = perf_maps_lost(instruments->maps);
		counters->maps_late_cpus = perf_maps_late_cpus(instruments->maps);
	}
	instruments_note(&first, instruments_take_source_counters(instruments, counters), counts);
	counters->bpf_hooked_ps = instruments->bpf_cost.hooked_ps;
	counters->bpf_again_ps = instruments->bpf_cost.again_ps;
	counters->bpf_other_ps = instruments->bpf_cost.other_ps;
	if (source->ops->stream)
		instruments_note(&first, source->ops->stream->fill(source, counters), counts);
	if (instruments->events)
		instruments_note(&first, instruments_take_events(instruments, counters),
				 "cannot read the eBPF counts");
	strcpy(counters->bpf_missing, instruments->bpf_missing);
	return first.err;
}

int instruments_check_events(const struct run_counters *counters, struct why *why)
{
	const uint64_t sent = counters->counts[PFSTAT_COUNT_EVENTS];

	if (!counters->have_bpf || sent == counters->events_received)
		return 0;
	return why_fail(why, -EPROTO,
			"eBPF sent %" PRIu64 " events, but %" PRIu64
			" were read; do not trust these figures, and report a bug",
			sent, counters->events_received);
}

uint32_t instruments_hooks(const struct instruments *instruments)
{
	if (instruments->source->ops->stream)
		return instruments->source->ops->stream->hooks(instruments->source);
	return instruments->events ? all_faults_hooks(&instruments->faults) : 0;
}

void instruments_lost(const struct instruments *instruments, uint64_t *records, uint64_t *events)
{
	struct fault_source_counters source;
	struct run_counters counters;

	run_counters_init(&counters);
	instruments->source->ops->counters(instruments->source, &source);
	*records = source.lost;
	*events = COUNT_NA;
	if (!instruments_counts(instruments, &counters))
		*events = count_sum(run_counters_events_lost(&counters),
				    counters.counts[PFSTAT_COUNT_SYSCALL_LOST]);
	run_counters_exit(&counters);
}

void instruments_count_swap(struct instruments *instruments, bool count)
{
	if (instruments->events)
		events_count_swap(instruments->events, count);
}

/* Faults without a call, which eBPF records next to the calls. */
static int instruments_add_recorded(const struct instruments *instruments,
				    struct run_counters *counters)
{
	const struct fault_source *source = instruments->source;
	struct fault_source_counters read;
	int err = source->ops->counters(source, &read);

	if (err)
		return err;
	counters->counts[PFSTAT_COUNT_EVENTS] += read.events;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] += read.events_lost;
	return 0;
}

static int instruments_event_counts(const struct instruments *instruments,
				    struct run_counters *counters)
{
	int err = instruments->events ? events_counters(instruments->events, counters) : -ENODATA;

	if (!err)
		err = all_faults_counters(&instruments->faults, counters);
	return err || !instruments->source->ops->use_events ?
		       err :
		       instruments_add_recorded(instruments, counters);
}

int instruments_counts(const struct instruments *instruments, struct run_counters *counters)
{
	const struct fault_source *source = instruments->source;

	if (source->ops->stream)
		return source->ops->stream->fill(source, counters);
	return instruments_event_counts(instruments, counters);
}

void instruments_hold_thread(struct instruments *instruments, pid_t tid)
{
	struct fault_source *source = instruments->source;

	if (source->ops->stream)
		instruments->thread_err = source->ops->stream->hold_thread(source, tid);
	if (instruments->counters)
		perf_faults_hold_thread(instruments->counters, tid);
}

int instruments_begin_thread(struct instruments *instruments, pid_t tid)
{
	struct fault_source *source = instruments->source;

	if (source->ops->stream && !instruments->thread_err)
		instruments->thread_err = source->ops->stream->begin_thread(source);
	/* The thread's own system calls and faults come before the watch. */
	if (instruments->counters)
		perf_faults_release_thread(instruments->counters);
	if (instruments->events)
		instruments->thread_err =
			all_faults_watch(&instruments->faults, tid, PFSTAT_TARGET_THREAD);
	return instruments->thread_err;
}

int instruments_end_thread(struct instruments *instruments, pid_t tid)
{
	struct fault_source *source = instruments->source;
	int err = instruments->events ? all_faults_ignore(&instruments->faults, tid) : 0;

	if (source->ops->stream)
		err = source->ops->stream->end_thread(source);
	if (instruments->counters)
		perf_faults_stop(instruments->counters);
	instruments->thread_err = instruments->thread_err ?: err;
	return err;
}

int instruments_thread_err(const struct instruments *instruments)
{
	return instruments ? instruments->thread_err : 0;
}

/* Close the pins before the source: the next owner makes new pins. */
void instruments_close(struct instruments *instruments)
{
	if (!instruments)
		return;
	priority_restore(&instruments->priority);
	collector_close(instruments->collector);
	events_close(instruments->events);
	if (instruments->events && !instruments->options.detach_later)
		pins_lock_await_detached();
	perf_maps_close(instruments->maps);
	perf_faults_close(instruments->counters);
	if (instruments->source)
		instruments->source->ops->close(instruments->source);
	free(instruments->mappings);
	free(instruments);
}
