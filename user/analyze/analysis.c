// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes a run's items, in time order, to the analysis parts, and the logical faults from explain.c
 * to the figures and the listeners. Pure: no I/O, no clock.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/analysis.h"
#include "analyze/fault/requests.h"
#include "analyze/fault_tail.h"
#include "analyze/groups/address_spaces.h"
#include "analyze/groups/grouping.h"
#include "analyze/groups/stacks.h"

#define LISTENERS_MAX 4
/* Log2 of the page count in the largest possible folio, 1 GiB. */
#define ORDER_MAX 18

struct analysis {
	struct explain *explain;
	struct grouping grouping;
	struct readahead *readahead;
	struct evictions *evictions;
	struct given_back *given_back;
	struct evidence evidence;
	struct slowest slowest;
	struct contents contents;
	struct waits waits;
	struct shaping_calls calls;
	struct class_faults classes[NR_FAULT_CLASSES];
	struct block_totals blocks;
	uint64_t voluntary, preempted, off_cpu_ns;
	bool has_spans;
	struct {
		explain_sink sink;
		void *context;
	} listeners[LISTENERS_MAX];
	unsigned int nr_listeners;
	advice_sink advice_sink;
	void *advice_context;
};

/* Space limits for the tables: normal for a report, small for many analyses. */
struct analysis_limits {
	size_t groups;				 /* per dimension, an even number */
	size_t evictions_bytes, readahead_bytes; /* memory for file pages */
	size_t given_back_bytes;		 /* memory for anonymous pages */
	uint32_t requests;			 /* completed ones, to match a wait with */
	uint32_t names;				 /* for files */
	size_t maps;				 /* mappings in all living processes */
	bool small_evidence;			 /* see evidence_make_small() */
};

/* Each table's header describes the behaviour beyond the limit. */
static const struct analysis_limits analysis_limits_normal = {
	.groups = GROUPS_MAX,
	.evictions_bytes = EVICTIONS_MEMORY,
	.readahead_bytes = READAHEAD_MEMORY,
	.given_back_bytes = 16 << 20,
	.requests = REQUESTS_MAX,
	.names = UINT32_MAX,
	.maps = SIZE_MAX,
};

static const struct analysis_limits analysis_limits_small = {
	.groups = 256,
	.evictions_bytes = 256 << 10,
	.readahead_bytes = 256 << 10,
	.given_back_bytes = 256 << 10,
	.requests = 1024,
	.names = 1024,
	.maps = 1 << 18,
	.small_evidence = true,
};

/* A fork copies no entries of the page table for a file that is not written privately. */
static void add_inherited_fault(struct analysis *analysis, const struct explained *fault)
{
	const bool maps_only = fault->class == FAULT_LONG || fault->class == FAULT_AROUND ||
			       fault->class == FAULT_FILE;
	const struct space_map *map;

	if (!maps_only || !fault->inode)
		return;
	map = grouping_map(&analysis->grouping, fault);
	if (map && map->pid != fault->pid && map->inode == fault->inode)
		evidence_add_inherited(&analysis->evidence, fault);
}

static int take_fault(void *context, const struct explained *fault);

/*
 * Corrects only the totals. The parts of single faults, and of groups with their quantiles, stay
 * unchanged.
 */
static void correct_class(void *context, enum fault_class fault_class, enum part part, uint64_t ns)
{
	struct analysis *analysis = context;
	struct class_faults *class = &analysis->classes[fault_class];

	class->total_ns[part] -= ns;
	class->total_ns[PART_RESIDUE] += ns;
}

static bool open_parts(struct analysis *analysis, bool have_bpf, uint64_t page_bytes,
		       unsigned int groups, const struct analysis_limits *limits)
{
	analysis->explain = explain_new(have_bpf, page_bytes, take_fault, analysis);
	if (analysis->explain) {
		explain_listen_corrections(analysis->explain, correct_class, analysis);
		explain_limit_requests(analysis->explain, limits->requests);
	}
	analysis->evidence.handlers.page_bytes = page_bytes;
	if (limits->small_evidence)
		evidence_make_small(&analysis->evidence);
	analysis->readahead = readahead_new(page_bytes, limits->readahead_bytes);
	analysis->evictions = evictions_new(page_bytes, limits->evictions_bytes);
	analysis->given_back = given_back_new(page_bytes, limits->given_back_bytes);
	if (grouping_init(&analysis->grouping, page_bytes, groups, limits->groups))
		return false;
	address_spaces_limit_names(analysis->grouping.spaces, limits->names);
	address_spaces_limit_maps(analysis->grouping.spaces, limits->maps);
	return analysis->explain && analysis->readahead && analysis->evictions &&
	       analysis->given_back;
}

static struct analysis *analysis_new_limited(bool have_bpf, uint64_t page_bytes,
					     unsigned int groups,
					     const struct analysis_limits *limits)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));

	if (analysis && !open_parts(analysis, have_bpf, page_bytes, groups, limits)) {
		analysis_free(analysis);
		return NULL;
	}
	return analysis;
}

struct analysis *analysis_new(bool have_bpf, uint64_t page_bytes, unsigned int groups)
{
	return analysis_new_limited(have_bpf, page_bytes, groups, &analysis_limits_normal);
}

struct analysis *analysis_new_small(bool have_bpf, uint64_t page_bytes, unsigned int groups)
{
	return analysis_new_limited(have_bpf, page_bytes, groups, &analysis_limits_small);
}

void analysis_expect_spans(struct analysis *analysis, bool expected)
{
	analysis->has_spans = expected;
	if (expected)
		explain_expect_spans(analysis->explain);
}

bool analysis_has_spans(const struct analysis *analysis)
{
	return analysis->has_spans;
}

uint64_t analysis_page_bytes(const struct analysis *analysis)
{
	return address_spaces_page_bytes(analysis->grouping.spaces);
}

void analysis_free(struct analysis *analysis)
{
	enum fault_class class;

	if (!analysis)
		return;
	explain_free(analysis->explain);
	grouping_exit(&analysis->grouping);
	readahead_free(analysis->readahead);
	evictions_free(analysis->evictions);
	given_back_free(analysis->given_back);
	evidence_exit(&analysis->evidence);
	waits_exit(&analysis->waits);
	slowest_exit(&analysis->slowest);
	shaping_calls_exit(&analysis->calls);
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		class_faults_exit(&analysis->classes[class]);
	block_totals_exit(&analysis->blocks);
	free(analysis);
}

int analysis_listen(struct analysis *analysis, explain_sink sink, void *context)
{
	if (analysis->nr_listeners == LISTENERS_MAX)
		return -ENOSPC;
	analysis->listeners[analysis->nr_listeners].sink = sink;
	analysis->listeners[analysis->nr_listeners++].context = context;
	return 0;
}

void analysis_listen_advice(struct analysis *analysis, advice_sink sink, void *context)
{
	analysis->advice_sink = sink;
	analysis->advice_context = context;
}

void analysis_listen_pages(struct analysis *analysis, readahead_sink sink, void *context)
{
	readahead_listen(analysis->readahead, sink, context);
}

static int take_fault(void *context, const struct explained *fault)
{
	struct analysis *analysis = context;
	unsigned int i;
	int err;

	contents_add_fault(&analysis->contents, fault);
	waits_add_fault(&analysis->waits, fault);
	fault_tail_add(&analysis->evidence.figures.tail, fault);
	add_inherited_fault(analysis, fault);
	err = slowest_add_fault(&analysis->slowest, fault, &analysis->grouping);
	if (!err)
		err = evidence_add_fault(&analysis->evidence, fault);
	if (!err)
		err = class_faults_add(&analysis->classes[fault->class], fault);
	if (!err)
		err = grouping_add_fault(&analysis->grouping, fault);
	if (!err)
		err = readahead_add_fault(analysis->readahead, fault);
	if (!err)
		err = evictions_add_fault(analysis->evictions, fault);
	if (!err)
		err = given_back_add_fault(analysis->given_back, fault, &analysis->calls);
	for (i = 0; i < analysis->nr_listeners && !err; i++)
		err = analysis->listeners[i].sink(analysis->listeners[i].context, fault);
	return err;
}

static int add_block(struct analysis *analysis, const struct pfstat_block *block)
{
	int err = slowest_add_block(&analysis->slowest, block);

	if (!err)
		err = block_totals_add(&analysis->blocks, block);
	if (err || block->event.flags & PFSTAT_BLOCK_WRITE)
		return err;
	err = readahead_add_block(analysis->readahead, block);
	return err ? err : evictions_add_read(analysis->evictions, block);
}

static int add_task(struct analysis *analysis, const struct pfstat_task *task)
{
	const bool begins = task->event.flags & PFSTAT_TASK_EXEC;
	const bool renamed = task->event.flags & (PFSTAT_TASK_EXEC | PFSTAT_TASK_RENAME);
	const bool ends = task->event.flags & PFSTAT_TASK_EXIT;
	/*
	 * A thread executing a program takes the first thread's number. The thread's own number
	 * ends.
	 */
	const uint32_t ended = ends ? task->event.tid : task->parent;
	int err;

	/* First emit the thread's last faults, which need the thread's maps, stacks and name. */
	err = explain_event(analysis->explain, &task->event);
	contents_add_task(&analysis->contents, task);
	if (!err)
		err = evictions_add_task(analysis->evictions, task);
	if (!err)
		err = given_back_add_task(analysis->given_back, task);
	if (!err)
		err = evidence_add_task(&analysis->evidence, task);
	if (ends || begins)
		stacks_end_thread(analysis->grouping.stacks, ended);
	if (!err)
		err = grouping_close_thread(&analysis->grouping, task);
	if (!err)
		err = address_spaces_add_task(analysis->grouping.spaces, task);
	if (!err && renamed)
		grouping_rename_thread(&analysis->grouping, task);
	return err;
}

static int add_off_cpu(struct analysis *analysis, const struct pfstat_off_cpu *interval)
{
	uint32_t wait;
	int err = 0;

	if (interval->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		analysis->preempted++;
	else
		analysis->voluntary++;
	analysis->off_cpu_ns += item_elapsed(interval->off_ns, interval->event.ns);
	wait = explain_wait_of(analysis->explain, interval);
	if (wait)
		err = waits_add_sleep(&analysis->waits, wait, interval,
				      analysis_thread_name(analysis, interval->waker));
	return err ?: evidence_add_off_cpu(&analysis->evidence, interval);
}

static int add_advice(struct analysis *analysis, const struct pfstat_advice *advice)
{
	evidence_add_advice(&analysis->evidence, advice);
	if (!analysis->advice_sink)
		return 0;
	return file_advice_visit(analysis->grouping.spaces, advice, analysis->advice_sink,
				 analysis->advice_context);
}

static int add_wait(struct analysis *analysis, const struct pfstat_wait *wait)
{
	enum wait_kind kind;
	uint32_t id;
	int err = waits_find_event(&analysis->waits, wait, &id, &kind);

	return err ? err : explain_wait(analysis->explain, wait->event.tid, wait->off_ns, id, kind);
}

static int add_cpu_task(struct analysis *analysis, const struct pfstat_cpu_task *task)
{
	const char *known = analysis_thread_name(analysis, task->task_pid);
	uint32_t id;
	int err = cpu_tasks_find(&analysis->waits.tasks, task, known[0], &id);

	return err ? err : explain_cpu_task(analysis->explain, task, id);
}

/* The thread's last fault comes before the call, which may take away the fault's page. */
static int add_call(struct analysis *analysis, const struct pfstat_call *call)
{
	return explain_leave(analysis->explain, call->event.tid)			    ?:
		       shaping_calls_add(&analysis->calls, analysis->grouping.spaces, call) ?:
		       given_back_add_call(analysis->given_back, call, &analysis->calls)    ?:
		       slowest_add_call(&analysis->slowest, call, &analysis->grouping);
}

static int add_event(struct analysis *analysis, const struct pfstat_event *event)
{
	int err = 0;

	switch (event->type) {
	case PFSTAT_EVENT_TASK:
		return add_task(analysis, (const struct pfstat_task *)event);
	case PFSTAT_EVENT_PAGE:
		return readahead_remove_page(analysis->readahead, (const void *)event) ?:
			       evictions_remove(analysis->evictions, (const void *)event);
	case PFSTAT_EVENT_OFF_CPU:
		err = add_off_cpu(analysis, (const struct pfstat_off_cpu *)event);
		break;
	case PFSTAT_EVENT_BLOCK:
		err = add_block(analysis, (const struct pfstat_block *)event);
		break;
	case PFSTAT_EVENT_ADVICE:
		return add_advice(analysis, (const struct pfstat_advice *)event);
	case PFSTAT_EVENT_STACK:
		return stacks_add(analysis->grouping.stacks, (const struct pfstat_stack *)event);
	case PFSTAT_EVENT_WAIT:
		return add_wait(analysis, (const struct pfstat_wait *)event);
	case PFSTAT_EVENT_CPU_TASK:
		return add_cpu_task(analysis, (const struct pfstat_cpu_task *)event);
	case PFSTAT_EVENT_CALL:
		return add_call(analysis, (const struct pfstat_call *)event);
	case PFSTAT_EVENT_FORK:
		shaping_calls_add_fork(&analysis->calls, (const struct pfstat_fork *)event);
		return 0;
	case PFSTAT_EVENT_USERFAULT:
		return handlers_add_read(&analysis->evidence.handlers, (const void *)event);
	case PFSTAT_EVENT_MAPPING:
		grouping_add_mapping(&analysis->grouping, (const struct pfstat_mapping *)event);
		return 0;
	case PFSTAT_EVENT_RECLAIM:
		evidence_add_reclaim(&analysis->evidence, (const struct pfstat_reclaim *)event);
		break;
	case PFSTAT_EVENT_FAULT:
		swap_outs_add_return(evictions_swaps(analysis->evictions), (const void *)event);
		break;
	default:
		return -EINVAL;
	}
	return err ? err : explain_event(analysis->explain, event);
}

static int add_record(struct analysis *analysis, const struct pfstat_record *record)
{
	if (record->order > ORDER_MAX)
		return -EINVAL;
	contents_add_record(&analysis->contents, record);
	return explain_record(analysis->explain, record);
}

/* Keeps the file's figures. The next file with this inode starts without any. */
static int analysis_end_file(struct analysis *analysis, uint32_t dev, uint64_t inode)
{
	evidence_end_file(&analysis->evidence, dev, inode);
	return explain_end_file(analysis->explain, dev, inode)		   ?:
		       grouping_end_file(&analysis->grouping, dev, inode)  ?:
		       readahead_end_file(analysis->readahead, dev, inode) ?:
		       evictions_end_file(analysis->evictions, dev, inode);
}

/* First emit the thread's last fault, which needs the earlier mappings. */
static int analysis_add_map(struct analysis *analysis, const struct item_map *map)
{
	int err = explain_leave(analysis->explain, map->tid);

	if (!err)
		err = evidence_add_map(&analysis->evidence, map);
	if (!err && address_spaces_is_reused(analysis->grouping.spaces, map))
		err = analysis_end_file(analysis, map->dev, map->inode);
	return err ? err : address_spaces_add_map(analysis->grouping.spaces, map);
}

int analysis_add(void *context, const struct item *item)
{
	struct analysis *analysis = context;

	switch (item->type) {
	case ITEM_RECORD:
		return add_record(analysis, item->record);
	case ITEM_EVENT:
		return add_event(analysis, item->event);
	case ITEM_MAP:
		return analysis_add_map(analysis, item->map);
	default:
		return -EINVAL;
	}
}

int analysis_add_foreign(struct analysis *analysis, const struct pfstat_block *block)
{
	return slowest_add_block(&analysis->slowest, block) ?:
		       explain_event(analysis->explain, &block->event);
}

int analysis_finish(struct analysis *analysis)
{
	enum fault_class class;
	int err;

	err = explain_finish(analysis->explain) ?: evidence_finish(&analysis->evidence);
	for (class = 0; class < NR_FAULT_CLASSES && !err; class++)
		if (analysis->classes[class].count)
			err = class_faults_add_zeros(&analysis->classes[class]);
	return err;
}

const struct summary *analysis_summary(const struct analysis *analysis)
{
	return explain_summary(analysis->explain);
}

void analysis_faults(const struct analysis *analysis, enum fault_class class,
		     struct fault_figures *figures)
{
	class_faults_fill(&analysis->classes[class], 1, figures);
}

void analysis_all_faults(const struct analysis *analysis, struct fault_figures *figures)
{
	class_faults_fill(analysis->classes, NR_FAULT_CLASSES, figures);
}

const struct quantiles *analysis_histogram(const struct analysis *analysis, enum fault_class class,
					   enum part part)
{
	const struct class_faults *faults = &analysis->classes[class];

	return faults->count ? &faults->quantiles[part] : NULL;
}

void analysis_readahead(const struct analysis *analysis, struct readahead_figures *figures)
{
	readahead_figures(analysis->readahead, figures);
}

struct spaces *analysis_spaces(const struct analysis *analysis)
{
	return analysis->grouping.spaces;
}

void analysis_evictions(const struct analysis *analysis, struct evictions_figures *figures)
{
	evictions_figures(analysis->evictions, figures);
}

int analysis_eviction_pairs(const struct analysis *analysis, struct evictions_pair **pairs,
			    size_t *nr)
{
	return evictions_pairs(analysis->evictions, pairs, nr);
}

void analysis_evidence(const struct analysis *analysis, struct evidence_figures *figures)
{
	evidence_figures(&analysis->evidence, figures);
}

void analysis_activity(const struct analysis *analysis, uint64_t from_ns, uint64_t to_ns,
		       struct activity_figures *figures)
{
	activity_figures(&analysis->evidence.activity, from_ns, to_ns, figures);
}

void analysis_keep_slowest(struct analysis *analysis, unsigned int nr)
{
	analysis->slowest.max = nr;
}

const struct slowest *analysis_slowest(const struct analysis *analysis)
{
	return &analysis->slowest;
}

int analysis_slow_names(const struct analysis *analysis, const struct slow_fault *slow,
			struct slow_names *names)
{
	return slow_names_fill(names, slow, &analysis->grouping, &analysis->waits);
}

void analysis_contents(const struct analysis *analysis, struct contents_figures *figures)
{
	contents_figures(&analysis->contents, figures);
}

const struct waits *analysis_waits(const struct analysis *analysis)
{
	return &analysis->waits;
}

const struct handler_row *analysis_handler(const struct analysis *analysis,
					   const struct explained *fault,
					   const struct explain_span *span)
{
	return handlers_find(&analysis->evidence.handlers, fault, span);
}

void analysis_off_cpu(const struct analysis *analysis, uint64_t *voluntary, uint64_t *preempted,
		      uint64_t *total_ns)
{
	*voluntary = analysis->voluntary;
	*preempted = analysis->preempted;
	*total_ns = analysis->off_cpu_ns;
}

void analysis_blocks(const struct analysis *analysis, struct block_figures *figures)
{
	block_totals_fill(&analysis->blocks, figures);
}

int analysis_groups(const struct analysis *analysis, enum group_by by, struct group **groups,
		    size_t *nr)
{
	return grouping_list(&analysis->grouping, by, groups, nr);
}

unsigned int analysis_dimensions(const struct analysis *analysis)
{
	unsigned int dimensions = 0;
	enum group_by by;

	for (by = 0; by < NR_GROUP_BY; by++)
		if (analysis->grouping.groups[by])
			dimensions |= 1U << by;
	return dimensions;
}

const char *analysis_thread_name(const struct analysis *analysis, uint32_t tid)
{
	return address_spaces_comm(analysis->grouping.spaces, tid);
}

char *analysis_file_name(const struct analysis *analysis, uint32_t dev, uint64_t inode)
{
	return grouping_file_name(&analysis->grouping, dev, inode);
}

int analysis_stack(struct analysis *analysis, const struct explained *fault, uint64_t *number)
{
	struct grouping *grouping = &analysis->grouping;
	int err = stacks_of_fault(grouping->stacks, grouping->spaces, fault, number);

	if (err || *number != STACKS_NONE)
		return err;
	return stacks_of_code(grouping->stacks, grouping->spaces, fault, number);
}

size_t analysis_frames(const struct analysis *analysis, uint64_t number,
		       struct stack_frame frames[STACKS_MAX_FRAMES])
{
	return stacks_frames(analysis->grouping.stacks, analysis->grouping.spaces, number, frames);
}

int analysis_visit_code(const struct analysis *analysis, code_visitor visit, void *context)
{
	int err = grouping_visit_code(&analysis->grouping, visit, context);

	return err ? err :
		     shaping_calls_visit(&analysis->calls, analysis->grouping.spaces, visit,
					 context);
}

int analysis_name_address(struct analysis *analysis, uint32_t pid, uint64_t address,
			  const char *symbol)
{
	const struct code_place place = { .path = "", .offset = address, .pid = pid };
	int err = grouping_name_code(&analysis->grouping, &place, symbol);

	return err ? err : shaping_calls_name(&analysis->calls, 0, pid, address, symbol);
}

int analysis_name_code(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *symbol)
{
	const uint32_t number = address_spaces_path_number(analysis->grouping.spaces, path);
	const struct code_place place = { .path = path, .offset = offset };
	int err = grouping_name_code(&analysis->grouping, &place, symbol);

	return err || !number ? err :
				shaping_calls_name(&analysis->calls, number, 0, offset, symbol);
}

int analysis_name_line(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *source, uint32_t line)
{
	const struct code_place place = { .path = path, .offset = offset };

	return code_table_set_line(&analysis->grouping.code, &place, source, line);
}

const struct code_name *analysis_code_at(const struct analysis *analysis,
					 const struct explained *fault, const char **object)
{
	return grouping_code_at(&analysis->grouping, fault, object);
}

const struct shaping_calls *analysis_calls(const struct analysis *analysis)
{
	return &analysis->calls;
}

char *analysis_caller(const struct analysis *analysis, const struct shaping_call *call)
{
	return shaping_call_caller(call, analysis->grouping.spaces);
}

const char *analysis_call_file(const struct analysis *analysis, const struct shaping_call *call)
{
	return address_spaces_path(analysis->grouping.spaces, call->target);
}
