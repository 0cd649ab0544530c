// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sampler reads perf's records, and the stream turns them into items. This source has no record
 * rings, and needs neither eBPF nor perf's mappings from elsewhere.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "collect/fault_cost.h"
#include "collect/fault_source_perf.h"
#include "collect/kernel_symbols.h"
#include "collect/perf_sampler.h"
#include "collect/perf_stream.h"
#include "model/counters.h"
#include "system/own_process.h"
#include "system/perf.h"
#include "system/proc_maps.h"
#include "system/processes.h"
#include "util/array.h"
#include "util/page_size.h"
#include "util/time_ns.h"
#include "util/why.h"

/* Space for the calibration samples. */
#define CALIBRATION_BYTES (64U << 10)
/* A sample with a stack is as much longer, at most. */
#define STACKS_FACTOR 8

/* A thread that exists when its watch begins. */
struct perf_name {
	uint32_t pid, tid;
	uint64_t ns;		     /* when the name was read */
	char name[THREAD_NAME_SIZE]; /* "": not needed */
};

struct perf_source {
	struct fault_source source;
	struct perf_sampler *sampler;
	struct perf_stream *stream;
	struct perf_advice advice;
	struct code_files *files;
	struct kallsyms kallsyms; /* for the stacks of sleeps */
	struct kernel_symbols symbols;
	struct why waits_missing;  /* the user may not see the kernel's stacks */
	struct proc_maps existing; /* passed with the next drain, after the names */
	struct perf_name *names;
	size_t nr_names, names_room;
	pthread_mutex_t lock; /* protects existing and names */
	item_sink sink;	      /* for the drain */
	void *context;
	uint64_t cost_ps; /* per fault */
	bool stopped;
	uint64_t read[PERF_NR_SAMPLES]; /* the kernel's counts at the end */
	uint64_t read_traced;
	bool traces; /* reclaim is known */
	int read_err;
};

static struct perf_source *perf_source_of(const struct fault_source *source)
{
	return (struct perf_source *)source;
}

static int perf_source_explain(int err, pid_t pid, struct why *why)
{
	if (!err)
		return 0;
	if (err == -EPERM || err == -EACCES)
		why_set(why,
			"cannot sample faults in process %d: it is another user's; run pfdrive "
			"with sudo",
			pid);
	else if (err == -ENOBUFS)
		why_set(why,
			"this user may not lock more memory for perf's buffers, perhaps because "
			"another recorder has them; raise kernel.perf_event_mlock_kb or ulimit -l");
	else if (err == -EMFILE)
		why_set(why,
			"perf needs three descriptors for each thread in process %d and each CPU, "
			"and the limit is too low; raise it with ulimit -n",
			pid);
	else if (err == -ESRCH)
		why_set(why, "there is no process %d", pid);
	else
		why_set(why, "cannot sample faults in process %d with perf: %s", pid,
			strerror(-err));
	return err;
}

/*
 * Measures the picoseconds perf adds to a fault, in this thread and in buffers that no thread
 * reads. Also shows whether the buffers may be locked. 0 or a negative errno.
 */
static int perf_source_calibrate(struct perf_source *perf, bool stacks)
{
	struct fault_stage stage;
	struct perf_sampler *sampler;
	uint64_t before_ps;
	int err = perf_sampler_open(&sampler, CALIBRATION_BYTES * (stacks ? STACKS_FACTOR : 1),
				    stacks ? 1U << PERF_FAULT_START : 0);

	perf->cost_ps = COUNT_NA;
	if (err)
		return err;
	err = perf_sampler_hold_thread(sampler, gettid());
	if (!err && !fault_stage_open(&stage)) {
		before_ps = fault_stage_time(&stage);
		if (!perf_sampler_begin_thread(sampler))
			perf->cost_ps = fault_stage_difference(fault_stage_time(&stage), before_ps);
		fault_stage_close(&stage);
	}
	perf_sampler_close(sampler);
	return err;
}

static int perf_source_check(const struct fault_source_options *options, struct perf_trial *trial,
			     struct why *why)
{
	if (!options->fault_around)
		return why_fail(why, -EOPNOTSUPP,
				"perf cannot disable fault-around; load the pfstat module");
	perf_access_try(trial);
	if (trial->access != PERF_ACCESS_NONE)
		return 0;
	perf_access_explain(trial, why);
	return trial->err;
}

/* A stack is of use only with the functions' names. Returns the further events to record. */
#define PERF_FUNCTION_SPELLING(name, spelling) spelling,

static uint32_t perf_source_read_symbols(struct perf_source *perf, const struct perf_trial *trial)
{
	static const char *const names[] = { PERF_FUNCTIONS(PERF_FUNCTION_SPELLING) };
	struct perf_function functions[PERF_NR_FUNCTIONS] = { 0 };
	int err, i;

	if (trial->access != PERF_ACCESS_ALL) {
		perf_access_reason(trial, &perf->waits_missing);
		return 0;
	}
	err = kallsyms_read(&perf->kallsyms, "/proc/kallsyms");
	if (err == -EACCES) {
		why_set(&perf->waits_missing, "kernel.kptr_restrict hides the kernel's functions");
		return 0;
	}
	if (err) {
		why_set(&perf->waits_missing, "cannot read /proc/kallsyms: %s", strerror(-err));
		return 0;
	}
	for (i = 0; i < PERF_NR_FUNCTIONS; i++)
		kallsyms_range(&perf->kallsyms, names[i], &functions[i].from, &functions[i].to);
	perf_stream_set_functions(perf->stream, functions);
	perf->symbols.lookup = kallsyms_lookup;
	perf->symbols.context = &perf->kallsyms;
	return 1U << PERF_SWITCH;
}

static int perf_source_open_parts(struct perf_source *perf,
				  const struct fault_source_options *options,
				  const struct perf_trial *trial)
{
	perf->source.ops = &fault_source_perf;
	pthread_mutex_init(&perf->lock, NULL);
	perf->stream = perf_stream_new(page_size(), sysconf(_SC_NPROCESSORS_CONF));
	perf->files = code_files_new();
	if (!perf->stream || !perf->files)
		return -ENOMEM;
	return perf_sampler_open(&perf->sampler, options->ring_size,
				 perf_source_read_symbols(perf, trial) |
					 (options->stacks ? 1U << PERF_FAULT_START : 0));
}

/* Without the right to it, reclaim is not known. */
static void perf_source_trace(struct perf_source *perf, const struct perf_trial *trial)
{
	const struct tracepoint *points = NULL;
	int err;

	if (trial->access == PERF_ACCESS_ALL)
		points = perf_sampler_trace(perf->sampler, &err);
	perf->traces = points;
	if (points)
		perf_stream_set_traced(perf->stream, points);
}

static int perf_source_open(struct fault_source **opened,
			    const struct fault_source_options *options, struct why *why)
{
	struct perf_source *perf;
	struct perf_trial trial;
	int err = perf_source_check(options, &trial, why);

	if (err)
		return err;
	err = -ENOMEM;
	perf = calloc(1, sizeof(*perf));
	if (perf)
		err = perf_source_open_parts(perf, options, &trial);
	if (!err)
		err = perf_source_calibrate(perf, options->stacks);
	if (err) {
		perf_source_explain(err, getpid(), why);
		if (perf)
			perf->source.ops->close(&perf->source);
		return err;
	}
	perf_source_trace(perf, &trial);
	*opened = &perf->source;
	return 0;
}

static void perf_source_close(struct fault_source *source)
{
	struct perf_source *perf = perf_source_of(source);

	if (perf->sampler)
		perf_sampler_close(perf->sampler);
	perf_stream_free(perf->stream);
	perf_advice_exit(&perf->advice);
	code_files_free(perf->files);
	kernel_symbols_exit(&perf->symbols);
	kallsyms_exit(&perf->kallsyms);
	proc_maps_exit(&perf->existing);
	free(perf->names);
	pthread_mutex_destroy(&perf->lock);
	free(perf);
}

/* Read without the lock: it may take long, and the drain would wait. */
static int perf_source_add_maps(struct perf_source *perf, pid_t pid)
{
	struct proc_maps found = { 0 };
	int err = pid == getpid() ? proc_maps_read_advice(&found, pid) :
				    proc_maps_read(&found, pid);

	if (!err) {
		pthread_mutex_lock(&perf->lock);
		err = proc_maps_append(&perf->existing, &found);
		pthread_mutex_unlock(&perf->lock);
	}
	proc_maps_exit(&found);
	return err;
}

struct perf_naming {
	struct perf_source *perf;
	pid_t pid;
};

static int perf_source_add_name(void *context, pid_t tid, const char name[THREAD_NAME_SIZE])
{
	const struct perf_naming *naming = context;
	struct perf_source *perf = naming->perf;
	struct perf_name added = { .pid = naming->pid, .tid = tid, .ns = clock_monotonic_ns() };
	int err;

	memcpy(added.name, name, sizeof(added.name));
	pthread_mutex_lock(&perf->lock);
	err = array_reserve((void **)&perf->names, perf->nr_names, &perf->names_room,
			    sizeof(added));
	if (!err)
		perf->names[perf->nr_names++] = added;
	pthread_mutex_unlock(&perf->lock);
	return err ? -ENOMEM : 0;
}

static int perf_source_follow(struct fault_source *source, pid_t pid, bool existing,
			      struct why *why)
{
	struct perf_source *perf = perf_source_of(source);
	struct perf_naming naming = { perf, pid };
	int err = perf_sampler_watch(perf->sampler, pid, perf_source_add_name, &naming);

	if (err)
		return perf_source_explain(err, pid, why);
	(void)existing;
	/*
	 * First the watch, then the existing mappings, so none is missed in between. A held command
	 * has some too, until the program is executed.
	 */
	if (perf_source_add_maps(perf, pid) == -ESRCH)
		return perf_source_explain(-ESRCH, pid, why);
	return 0;
}

/* A drive's thread is held and started. The mappings are read then. */
static int perf_source_hook_file(struct fault_source *source, int fd, const char *path,
				 struct why *why)
{
	(void)source;
	(void)fd;
	(void)path;
	(void)why;
	return 0;
}

static int perf_source_hook_nothing(struct fault_source *source, struct why *why)
{
	(void)source;
	(void)why;
	return 0;
}

static int perf_source_hold_thread(struct fault_source *source, pid_t tid)
{
	struct perf_source *perf = perf_source_of(source);
	struct perf_naming naming = { perf, getpid() };
	int err = perf_source_add_name(&naming, tid, (char[THREAD_NAME_SIZE]){ "" });

	return err ?: perf_sampler_hold_thread(perf->sampler, tid);
}

static int perf_source_begin_thread(struct fault_source *source)
{
	struct perf_source *perf = perf_source_of(source);
	int err = perf_source_add_maps(perf, getpid());

	return err ?: perf_sampler_begin_thread(perf->sampler);
}

static int perf_source_end_thread(struct fault_source *source)
{
	return perf_sampler_end_thread(perf_source_of(source)->sampler);
}

/* The thread that empties the buffers starts with the first target, before privileges go. */
static int perf_source_start(struct fault_source *source)
{
	struct perf_source *perf = perf_source_of(source);
	struct priority priority = { 0 };
	int err;

	priority_raise(&priority);
	err = perf_sampler_start(perf->sampler);
	priority_restore(&priority);
	return err;
}

static int perf_source_wrapper(const struct fault_source *source, uint64_t *address)
{
	(void)source;
	*address = 0;
	return 0;
}

static int perf_source_stop(struct fault_source *source)
{
	struct perf_source *perf = perf_source_of(source);

	perf_sampler_stop(perf->sampler);
	perf->read_err = perf_sampler_counts(perf->sampler, perf->read);
	if (!perf->read_err)
		perf->read_err = perf_sampler_traced(perf->sampler, &perf->read_traced);
	perf->stopped = true;
	return 0;
}

static int perf_source_fd(const struct fault_source *source)
{
	return perf_sampler_fd(perf_source_of(source)->sampler);
}

static int perf_source_pass(void *context, const struct item *item)
{
	struct perf_source *perf = context;
	struct item named = *item;
	int err = perf_advice_pass(&perf->advice, item->ns, perf->sink, perf->context);

	if (!err && item->type == ITEM_EVENT) {
		named.event = kernel_symbols_apply(&perf->symbols, item->event);
		/* A look after the end is not part of the recording. */
		if (!perf->stopped)
			err = perf_advice_add(&perf->advice, item->event);
	}
	if (err)
		return err;
	if (item->type == ITEM_MAP && item->map->bytes)
		code_files_see(perf->files, item->map);
	else if (item->type == ITEM_MAP)
		code_files_see_process(perf->files, item->map->pid);
	return perf->sink(perf->context, &named);
}

static int perf_source_pass_existing(void *context, const struct item_map *map)
{
	struct perf_source *perf = context;

	code_files_see_process(perf->files, map->pid);
	return perf_stream_add_map(perf->stream, map, perf_source_pass, perf);
}

static int perf_source_drain_existing(struct perf_source *perf)
{
	struct proc_maps existing;
	const struct perf_name *name;
	size_t i;
	int err = 0;

	pthread_mutex_lock(&perf->lock);
	existing = perf->existing;
	perf->existing = (struct proc_maps){ 0 };
	for (i = 0; i < perf->nr_names && !err; i++) {
		name = &perf->names[i];
		err = perf_stream_know(perf->stream, name->pid, name->tid, name->ns);
		if (!err && name->name[0])
			err = perf_stream_name(perf->stream, name->pid, name->tid, name->name,
					       perf_source_pass, perf);
	}
	perf->nr_names = 0;
	pthread_mutex_unlock(&perf->lock);
	if (err) {
		proc_maps_exit(&existing);
		return err;
	}
	return proc_maps_hand_over(&existing, perf_source_pass_existing, perf);
}

static int perf_source_add(void *context, unsigned int cpu, const struct perf_event_header *record)
{
	struct perf_source *perf = context;

	return perf_stream_add(perf->stream, cpu, record, perf_source_pass, perf);
}

static int perf_source_drain(struct fault_source *source, uint64_t until_ns, item_sink sink,
			     void *context)
{
	struct perf_source *perf = perf_source_of(source);
	uint64_t undone_ns, settled_ns;
	int err;

	perf->sink = sink;
	perf->context = context;
	perf_sampler_settled(perf->sampler, &undone_ns, &settled_ns);
	perf_stream_settle(perf->stream, undone_ns, settled_ns);
	err = perf_source_drain_existing(perf);
	if (!err)
		err = perf_sampler_drain(perf->sampler, until_ns, perf_source_add, perf);
	if (!err)
		err = perf_advice_pass(&perf->advice, until_ns, sink, context);
	if (!err && until_ns == UINT64_MAX)
		perf_stream_finish(perf->stream);
	return err;
}

static const struct code_files *perf_source_code_files(const struct fault_source *source)
{
	return perf_source_of(source)->files;
}

static void perf_source_see_map(void *context, const struct item_map *map)
{
	code_files_see(context, map);
}

static void perf_source_see_code(struct fault_source *source)
{
	struct perf_source *perf = perf_source_of(source);

	proc_maps_visit(&perf->existing, perf_source_see_map, perf->files);
}

static bool perf_source_user_only(const struct fault_source *source)
{
	return perf_sampler_is_user_only(perf_source_of(source)->sampler);
}

static uint32_t perf_source_hooks(const struct fault_source *source)
{
	const struct perf_source *perf = perf_source_of(source);
	uint32_t hooks = PERF_HOOKS;

	if (perf->traces)
		hooks |= PERF_HOOKS_TRACED;
	if (!perf_sampler_missing(perf->sampler, PERF_SWITCH))
		hooks |= PERF_HOOKS_KERNEL;
	return perf_stream_sees_throttle(perf->stream) ? hooks : hooks & ~(1U << HOOK_THROTTLE);
}

/* Why the reasons of sleeps are not known, as one clause. */
static void perf_source_explain_waits(const struct perf_source *perf, char *text, size_t size)
{
	const int err = perf_sampler_missing(perf->sampler, PERF_SWITCH);

	text[0] = '\0';
	if (perf->waits_missing.text[0])
		snprintf(text, size, "%.*s", (int)size - 1, perf->waits_missing.text);
	else if (err == -EMFILE)
		snprintf(text, size,
			 "the limit of descriptors (ulimit -n) is too low for a fourth event for "
			 "each thread and CPU");
	else if (err && err != -ENODATA)
		snprintf(text, size, "%s", strerror(-err));
}

/* Samples the kernel took but that did not arrive, once it took the last one. */
static uint64_t perf_source_lost(const struct perf_source *perf)
{
	const struct perf_stream_counts *counts = perf_stream_counts(perf->stream);
	uint64_t lost = 0;
	int i;

	if (perf->stopped && !perf->read_err && perf->read_traced > counts->traced)
		lost = perf->read_traced - counts->traced;
	for (i = 0; i < PERF_NR_SAMPLES && perf->stopped && !perf->read_err; i++)
		if (perf->read[i] > counts->samples[i])
			lost += perf->read[i] - counts->samples[i];
	return lost > counts->lost ? lost : counts->lost;
}

static int perf_source_counters(const struct fault_source *source,
				struct fault_source_counters *counters)
{
	(void)source;
	*counters = (struct fault_source_counters){
		.calls = COUNT_NA,
		.lost = 0, /* there are no records: lost samples are lost events */
		.call_cost_ps = COUNT_NA,
		.inside_ps = COUNT_NA,
	};
	return 0;
}

static int perf_source_fill(const struct fault_source *source, struct run_counters *counters)
{
	const struct perf_source *perf = perf_source_of(source);
	const struct perf_stream_counts *counts = perf_stream_counts(perf->stream);

	counters->have_bpf = true;
	counters->hooks = perf_source_hooks(source);
	memcpy(counters->faults, counts->faults, sizeof(counters->faults));
	counters->counts[PFSTAT_COUNT_OFF_CPU] = counts->off_cpu;
	counters->counts[PFSTAT_COUNT_EVENTS] = counts->items;
	counters->counts[PFSTAT_COUNT_EVENTS_LOST] = perf_source_lost(perf);
	counters->counts[PFSTAT_COUNT_SYSCALL_LOST] = 0;
	counters->events_received = counts->items;
	counters->events_skipped = 0;
	counters->bpf_other_ps = perf->cost_ps;
	counters->perf_user_only = perf_sampler_is_user_only(perf->sampler);
	perf_source_explain_waits(perf, counters->perf_waits_missing,
				  sizeof(counters->perf_waits_missing));
	counters->perf_failed = counts->failed;
	counters->perf_unpaired = counts->unpaired;
	counters->perf_forgotten = counts->forgotten;
	counters->perf_unsettled = perf_sampler_is_unsettled(perf->sampler);
	counters->perf_partial = counts->partial;
	counters->perf_partial_rows = counts->partial_rows;
	counters->perf_lost = counts->lost_rows;
	counters->perf_exec_pages = counts->exec_pages;
	counters->perf_ended = counts->ended;
	memcpy(counters->perf_ended_name, counts->ended_name, sizeof(counts->ended_name));
	if (!perf->stopped || perf->read_err)
		return perf->read_err;
	counters->perf_faults = perf->read[PERF_FAULT_START];
	counters->perf_minor = perf->read[PERF_FAULT_MINOR];
	counters->perf_major = perf->read[PERF_FAULT_MAJOR];
	return 0;
}

static const struct fault_source_stream_ops perf_source_stream = {
	.fd = perf_source_fd,
	.drain = perf_source_drain,
	.code_files = perf_source_code_files,
	.see_code = perf_source_see_code,
	.user_only = perf_source_user_only,
	.hooks = perf_source_hooks,
	.fill = perf_source_fill,
	.hold_thread = perf_source_hold_thread,
	.begin_thread = perf_source_begin_thread,
	.end_thread = perf_source_end_thread,
};

const struct fault_source_ops fault_source_perf = {
	.name = "perf",
	.word = "perf",
	.stream = &perf_source_stream,
	.open = perf_source_open,
	.hook_file = perf_source_hook_file,
	.hook_nothing = perf_source_hook_nothing,
	.follow = perf_source_follow,
	.start = perf_source_start,
	.wrapper = perf_source_wrapper,
	.stop = perf_source_stop,
	.counters = perf_source_counters,
	.close = perf_source_close,
};
