// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills a run's report from the analysis and the counters, one sub-object after the other. An
 * unknown figure stays COUNT_NA.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups/address_spaces.h"
#include "report/report.h"
#include "util/version.h"

/* Sets the line names, and all figures to unknown. */
static void init_usage(struct usage_line *lines)
{
	struct usage_seen seen = { .elapsed_ns = COUNT_NA };
	struct run_counters counters;

	run_counters_init(&counters);
	rusage_check_compare(lines, &counters, &seen);
}

void report_init(struct report *report)
{
	*report = (struct report){
		.environment = {
			.version = PFDRIVE_VERSION, .readahead_bytes = -1, .pinned_cpu = -1,
		},
		.drive = {
			.pages_touched = COUNT_NA, .pages_written = COUNT_NA,
			.repeat = 1, .repeats = 1,
		},
		.time = { .elapsed_ns = COUNT_NA, .counted_ns = COUNT_NA },
		.bpf.off_cpu_count = COUNT_NA,
		.pages.untracked = COUNT_NA,
		.memory = { .limit = COUNT_NA, .peak = COUNT_NA },
		.losses = {
			.records = COUNT_NA, .maps = COUNT_NA, .names_left_out = COUNT_NA,
			.events = COUNT_NA, .events_skipped = COUNT_NA,
			.events_sent = COUNT_NA, .events_received = COUNT_NA,
			.forgotten = COUNT_NA, .ended = COUNT_NA,
			.faults = COUNT_NA, .unwatched = COUNT_NA,
		},
		.cost = {
			.calls = COUNT_NA, .call_cost_ps = COUNT_NA, .inside_ps = COUNT_NA,
			.bpf_hooked_ps = COUNT_NA, .bpf_again_ps = COUNT_NA,
			.bpf_other_ps = COUNT_NA,
			.bpf_hooked = COUNT_NA, .bpf_again = COUNT_NA, .bpf_other = COUNT_NA,
		},
		.evidence = {
			.failed_faults = COUNT_NA,
			.activity = { .waiting_ns = COUNT_NA, .active_ns = COUNT_NA,
				      .active_max_ns = COUNT_NA },
		},
		.slowest.start_ns = COUNT_NA,
		.top = REPORT_TOP,
	};
	usage_init(&report->usage);
	init_usage(report->extras.usage);
	cgroup_limits_init(&report->cgroup);
	report->exact = EXACT_REACH_NONE;
}

static void report_exit_calls(struct report_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->nr; i++) {
		free(calls->rows[i].caller);
		free(calls->rows[i].file);
	}
	free(calls->rows);
	*calls = (struct report_calls){ 0 };
}

static void report_exit_slowest(struct report_slowest *slowest)
{
	size_t i;

	for (i = 0; i < slowest->nr; i++)
		slow_names_exit(&slowest->rows[i].names);
	free(slowest->rows);
	slowest->rows = NULL;
	slowest->nr = 0;
}

void report_exit(struct report *report)
{
	enum group_by by;

	for (by = 0; by < NR_GROUP_BY; by++) {
		free(report->places[by].rows);
		report->places[by] = (struct report_places){ 0 };
	}
	report_exit_calls(&report->calls);
	free(report->groups.rows);
	report->groups.rows = NULL;
	report->groups.nr = 0;
	free(report->pages.pairs);
	report->pages.pairs = NULL;
	report->pages.nr_pairs = 0;
	report_exit_slowest(&report->slowest);
	report->longest = (struct longest_names){ 0 };
	free(report->waits.rows);
	report->waits = (struct report_waits){ 0 };
	free(report->cpu_tasks.rows);
	report->cpu_tasks = (struct report_cpu_tasks){ 0 };
	free(report->mmap_lock.rows);
	report->mmap_lock = (struct report_mmap_lock){ 0 };
	free(report->extras.syscalls);
	report->extras.syscalls = NULL;
	report->extras.nr_syscalls = 0;
}

/* Counts returns from handle_mm_fault(), for hooked files or for all others. */
static uint64_t count_returns(const struct run_counters *counters, bool hooked,
			      enum pfstat_fault_outcome outcome)
{
	enum pfstat_fault_kind kind;
	uint64_t sum = 0;
	bool is_hooked;

	for (kind = 0; kind < PFSTAT_NR_FAULT_KINDS; kind++) {
		is_hooked = kind == PFSTAT_FAULT_HOOKED;
		if (is_hooked == hooked)
			sum = count_sum(sum, run_counters_returns(counters, kind, outcome));
	}
	return sum;
}

/*
 * Fault restarts on hooked files are counted apart, because they cost less than whole faults. For
 * other files each return sends an event, so restarts are included.
 */
static void fill_bpf_cost(struct report_cost *cost, const struct run_counters *counters)
{
	enum pfstat_fault_outcome outcome;
	uint64_t *sum;

	cost->bpf_hooked_ps = counters->bpf_hooked_ps;
	cost->bpf_again_ps = counters->bpf_again_ps;
	cost->bpf_other_ps = counters->bpf_other_ps;
	cost->bpf_hooked = 0;
	cost->bpf_again = 0;
	cost->bpf_other = 0;
	for (outcome = 0; outcome < PFSTAT_NR_OUTCOMES; outcome++) {
		sum = outcome == PFSTAT_OUTCOME_RETRY ? &cost->bpf_again : &cost->bpf_hooked;
		*sum = count_sum(*sum, count_returns(counters, true, outcome));
		cost->bpf_other =
			count_sum(cost->bpf_other, count_returns(counters, false, outcome));
	}
}

static void fill_bpf(struct report *report, const struct run_counters *counters)
{
	struct report_losses *losses = &report->losses;
	struct report_bpf *bpf = &report->bpf;

	bpf->have_counts = counters->have_bpf && !(counters->hooks & 1U << HOOK_PERF);
	if (!counters->have_bpf) {
		if (counters->bpf_missing[0])
			strcpy(bpf->missing, counters->bpf_missing);
		return;
	}
	bpf->known = true;
	strcpy(bpf->missing, counters->bpf_missing);
	bpf->hooks = counters->hooks;
	bpf->user_only = counters->perf_user_only;
	strcpy(bpf->waits_missing, counters->perf_waits_missing);
	bpf->module_faults = counters->module_faults;
	strcpy(bpf->module_faults_missing, counters->module_faults_missing);
	bpf->off_cpu_count = counters->counts[PFSTAT_COUNT_OFF_CPU];
	report->pages.untracked = counters->counts[PFSTAT_COUNT_UNTRACKED];
	losses->faults = counters->faults_lost;
	losses->unwatched = counters->faults_unwatched;
	losses->events = count_sum(counters->counts[PFSTAT_COUNT_EVENTS_LOST],
				   counters->counts[PFSTAT_COUNT_SYSCALL_LOST]);
	losses->events_skipped = counters->events_skipped;
	losses->threads = counters->perf_lost;
	losses->unsettled = counters->perf_unsettled;
	losses->partial = counters->perf_partial;
	losses->partial_threads = counters->perf_partial_rows;
	losses->forgotten = counters->perf_forgotten;
	losses->ended = counters->perf_ended;
	memcpy(losses->ended_name, counters->perf_ended_name, sizeof(losses->ended_name));
	losses->events_sent = counters->counts[PFSTAT_COUNT_EVENTS];
	losses->events_received = counters->events_received;
	fill_bpf_cost(&report->cost, counters);
	report->memory.limit = counters->memory_limit;
	report->memory.peak = counters->memory_peak;
	report->syscalls.rows = counters->syscalls;
	report->syscalls.nr = counters->nr_syscalls;
}

static void fill_time(struct report_time *time, const struct run_counters *counters)
{
	/* A drive measures the loop time itself. */
	if (time->elapsed_ns == COUNT_NA && counters->end_ns != COUNT_NA &&
	    counters->start_ns != COUNT_NA)
		time->elapsed_ns = counters->end_ns - counters->start_ns;
	time->counted_ns = time->elapsed_ns;
	if (counters->counts_start_ns != COUNT_NA && counters->end_ns != COUNT_NA)
		time->counted_ns = counters->end_ns - counters->counts_start_ns;
}

static void fill_counters(struct report *report, const struct run_counters *counters)
{
	fill_time(&report->time, counters);
	report->cost.calls = counters->calls;
	report->cost.call_cost_ps = counters->call_cost_ps;
	report->cost.inside_ps = counters->inside_ps;
	report->losses.records = counters->lost;
	report->losses.maps = counters->maps_lost;
	report->losses.maps_late_cpus = counters->maps_late_cpus;
	report->losses.names_left_out = counters->names_left_out;
	report->usage = counters->usage;
	report->cgroup = counters->cgroup;
	report->exact = counters->exact;
	fill_bpf(report, counters);
}

static void fill_faults(struct report_faults *faults, const struct analysis *analysis)
{
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++)
		analysis_faults(analysis, class, &faults->classes[class]);
	analysis_all_faults(analysis, &faults->all);
	faults->has_spans = analysis_has_spans(analysis);
}

static int fill_pages(struct report_pages *pages, const struct analysis *analysis)
{
	analysis_readahead(analysis, &pages->readahead);
	analysis_evictions(analysis, &pages->evictions);
	return analysis_eviction_pairs(analysis, &pages->pairs, &pages->nr_pairs);
}

/* Fills the comparison with getrusage(2) and the system calls by name. */
static int fill_extras(struct report *report, const struct analysis *analysis,
		       const struct run_counters *counters)
{
	struct report_extras *extras = &report->extras;
	struct usage_seen seen = {
		.bytes_read = report->blocks.bytes_read,
		.bytes_written = report->blocks.bytes_written,
		.elapsed_ns = report->time.counted_ns,
		.one_thread = counters->hooked_only,
	};

	analysis_off_cpu(analysis, &seen.voluntary, &seen.preempted, &seen.off_cpu_ns);
	rusage_check_compare(extras->usage, counters, &seen);
	return syscall_totals(counters->syscalls, counters->nr_syscalls, &extras->syscalls,
			      &extras->nr_syscalls);
}

static void fill_filesystems(struct group *rows, size_t nr, const struct run_counters *counters)
{
	size_t i;

	for (i = 0; i < nr; i++)
		rows[i].filesystem = rows[i].inode ? filesystem_find(counters->filesystems,
								     counters->nr_filesystems,
								     rows[i].dev) :
						     NULL;
}

static int fill_groups(struct report_groups *groups, const struct analysis *analysis,
		       const struct run_counters *counters)
{
	int err = groups->wanted ?
			  analysis_groups(analysis, groups->by, &groups->rows, &groups->nr) :
			  0;

	fill_filesystems(groups->rows, groups->nr, counters);
	return err;
}

static int fill_places(struct report_places *places, const struct analysis *analysis,
		       const struct run_counters *counters)
{
	enum group_by by;
	int err = 0;

	for (by = 0; by < NR_GROUP_BY && !err; by++)
		if (1U << by & REPORT_PLACES & analysis_dimensions(analysis))
			err = analysis_groups(analysis, by, &places[by].rows, &places[by].nr);
	fill_filesystems(places[GROUP_BY_FILE].rows, places[GROUP_BY_FILE].nr, counters);
	return err;
}

static int fill_calls(struct report_calls *calls, const struct analysis *analysis)
{
	const struct shaping_calls *found = analysis_calls(analysis);
	struct report_call *row;

	calls->left_out = found->left_out;
	calls->rows = found->nr ? calloc(found->nr, sizeof(*calls->rows)) : NULL;
	if (found->nr && !calls->rows)
		return -ENOMEM;
	while (calls->nr < found->nr) {
		row = &calls->rows[calls->nr++];
		row->sum = found->rows[calls->nr - 1];
		row->sum.symbol = NULL;
		row->caller = analysis_caller(analysis, &found->rows[calls->nr - 1]);
		row->file = strdup(analysis_call_file(analysis, &row->sum));
		if (!row->caller || !row->file)
			return -ENOMEM;
	}
	return 0;
}

static int fill_slowest(struct report *report, const struct analysis *analysis,
			const struct run_counters *counters)
{
	struct report_slowest *slowest = &report->slowest;
	const unsigned int nr = analysis_slowest(analysis)->nr;
	const struct slow_fault **sorted;
	int err = slowest_list(analysis_slowest(analysis), &sorted);

	slowest->start_ns = counters->start_ns ?: COUNT_NA;
	slowest->rows = calloc(nr + 1, sizeof(*slowest->rows));
	if (!slowest->rows)
		err = -ENOMEM;
	while (!err && slowest->nr < nr) {
		slowest->rows[slowest->nr].slow = sorted[slowest->nr];
		err = analysis_slow_names(analysis, sorted[slowest->nr],
					  &slowest->rows[slowest->nr].names);
		slowest->nr++;
	}
	free(sorted);
	if (slowest->nr)
		report->longest = slowest->rows[0].names.place;
	return err;
}

static void fill_evidence(struct report *report, const struct analysis *analysis,
			  const struct run_counters *counters)
{
	struct evidence_figures *evidence = &report->evidence;
	const uint64_t start_ns = counters->counts_start_ns == COUNT_NA ? counters->start_ns :
									  counters->counts_start_ns;

	analysis_evidence(analysis, evidence);
	evidence->failed_faults = run_counters_failed(counters);
	evidence->times.start_ns = item_elapsed(start_ns, evidence->times.start_ns);
	if (start_ns == COUNT_NA)
		evidence->times = (struct fault_times){ 0 };
	analysis_activity(analysis, start_ns, counters->end_ns, &evidence->activity);
	if (report->bpf.known)
		return;
	evidence->activity.waiting_ns = COUNT_NA;
	evidence->activity.active_ns = COUNT_NA;
	evidence->activity.active_max_ns = COUNT_NA;
	evidence->activity.stalled.waiting_ns = COUNT_NA;
	evidence->activity.stalled.active_ns = COUNT_NA;
	evidence->activity.stalled.active_max_ns = COUNT_NA;
}

static int fill_mmap_lock(struct report_mmap_lock *lock, const struct waits *waits)
{
	size_t i;

	lock->sleeps = waits->lock_wakers.sleeps;
	lock->total_ns = waits->lock_wakers.total_ns;
	for (i = 0; i < waits->nr; i++)
		if (waits->rows[i].is_mmap_lock)
			lock->in_faults_ns += waits->rows[i].total_ns;
	return lock_wakers_list(&waits->lock_wakers, &lock->rows, &lock->nr);
}

static int fill_waits(struct report *report, const struct analysis *analysis)
{
	const struct waits *waits = analysis_waits(analysis);

	int err = waits_list(waits, &report->waits.rows, &report->waits.nr);

	report->waits.unknown_ns = waits->unknown_ns;
	if (!err)
		err = cpu_tasks_list(&waits->tasks, &report->cpu_tasks.rows, &report->cpu_tasks.nr);
	return err ?: fill_mmap_lock(&report->mmap_lock, waits);
}

int report_fill(struct report *report, const struct analysis *analysis,
		const struct run_counters *counters)
{
	const uint64_t dropped = address_spaces_dropped(analysis_spaces(analysis));
	struct summary_figures figures;
	uint64_t *maps_lost = &report->losses.maps;

	report->environment.page_bytes = analysis_page_bytes(analysis);
	fill_counters(report, counters);
	if (dropped)
		*maps_lost = (*maps_lost == COUNT_NA ? 0 : *maps_lost) + dropped;
	report->summary = analysis_summary(analysis);
	summary_figures(report->summary, &figures);
	ledger_make(&report->ledger, counters, &figures);
	fill_faults(&report->faults, analysis);
	report->faults.parts_known = report->bpf.known;
	analysis_blocks(analysis, &report->blocks);
	fill_evidence(report, analysis, counters);
	analysis_contents(analysis, &report->contents);
	return fill_pages(&report->pages, analysis)		       ?:
		       fill_slowest(report, analysis, counters)	       ?:
		       fill_waits(report, analysis)		       ?:
		       fill_places(report->places, analysis, counters) ?:
		       fill_calls(&report->calls, analysis)	       ?:
		       fill_extras(report, analysis, counters)	       ?:
		       fill_groups(&report->groups, analysis, counters);
}
