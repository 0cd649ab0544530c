// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/groups/address_spaces.h"
#include "analyze/groups/stacks.h"

#define LISTENERS_MAX 4
/* Log2 of the pages of the largest folio that there can be: 1 GiB. */
#define ORDER_MAX 18

/* Of the faults of a class. A fault without a part is not in that part's histogram. */
struct class_faults {
	uint64_t count, major, unsolved, pages;
	uint64_t had[NR_PARTS + 1];			/* faults with some of it */
	uint64_t total_ns[NR_PARTS + 1];		/* [NR_PARTS]: the whole */
	struct quantiles quantiles[NR_PARTS + 1];
};

struct block_state {
	struct block_figures figures;
	struct quantiles queue, device;
};

struct analysis {
	struct summary *summary;
	struct explain *explain;
	struct spaces *spaces;
	struct stacks *stacks;
	struct readahead *readahead;
	struct blame *blame;
	struct groups *groups[NR_GROUP_BY];	/* NULL: not asked for */
	struct class_faults classes[NR_FAULT_CLASSES];
	struct block_state blocks;
	uint64_t voluntary, preempted, off_cpu_ns;
	struct {
		explain_sink sink;
		void *context;
	} listeners[LISTENERS_MAX];
	unsigned int nr_listeners;
	advice_sink advice_sink;
	void *advice_context;
};

static int take_fault(void *context, const struct explained *fault);

/* The parts of single faults, of groups and their quantiles stay as they were. */
static void correct_class(void *context, enum fault_class fault_class, enum part part,
			  uint64_t ns)
{
	struct analysis *analysis = context;
	struct class_faults *class = &analysis->classes[fault_class];

	class->total_ns[part] -= ns;
	class->total_ns[PART_RESIDUE] += ns;
}

static bool open_parts(struct analysis *analysis, bool have_bpf, unsigned int groups)
{
	enum group_by by;
	bool ok;

	analysis->summary = summary_new();
	analysis->explain = explain_new(have_bpf, take_fault, analysis);
	if (analysis->explain)
		explain_listen_corrections(analysis->explain, correct_class, analysis);
	analysis->spaces = spaces_new();
	analysis->stacks = stacks_new();
	analysis->readahead = readahead_new();
	analysis->blame = blame_new();
	ok = analysis->summary && analysis->explain && analysis->spaces && analysis->stacks &&
	     analysis->readahead && analysis->blame;
	for (by = 0; by < NR_GROUP_BY; by++) {
		if (!(groups & 1U << by))
			continue;
		analysis->groups[by] = groups_new();
		ok = ok && analysis->groups[by];
	}
	return ok;
}

struct analysis *analysis_new(bool have_bpf, unsigned int groups)
{
	struct analysis *analysis = calloc(1, sizeof(*analysis));

	if (analysis && !open_parts(analysis, have_bpf, groups)) {
		analysis_free(analysis);
		return NULL;
	}
	return analysis;
}

void analysis_free(struct analysis *analysis)
{
	enum fault_class class;
	enum group_by by;
	unsigned int i;

	if (!analysis)
		return;
	summary_free(analysis->summary);
	explain_free(analysis->explain);
	spaces_free(analysis->spaces);
	stacks_free(analysis->stacks);
	readahead_free(analysis->readahead);
	blame_free(analysis->blame);
	for (by = 0; by < NR_GROUP_BY; by++)
		groups_free(analysis->groups[by]);
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		for (i = 0; i <= NR_PARTS; i++)
			quantile_exit(&analysis->classes[class].quantiles[i]);
	quantile_exit(&analysis->blocks.queue);
	quantile_exit(&analysis->blocks.device);
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

static uint64_t pages_of(const struct explained *fault)
{
	if (!fault->solved)
		return 0;
	/* What fault-around mapped beside the page is not told: one at least. */
	return fault->order && !fault->around_pages ? 1ULL << fault->order : 1;
}

static int add_to_class(struct analysis *analysis, const struct explained *fault)
{
	struct class_faults *class = &analysis->classes[fault->class];
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;
	const enum part end = fault->nr_spans ? NR_PARTS : PART_CPU_BEFORE + 1;
	enum part part;
	int err;

	class->count++;
	class->major += fault->major;
	class->unsolved += !fault->solved;
	class->pages += pages_of(fault);
	class->had[NR_PARTS]++;
	class->total_ns[NR_PARTS] += whole_ns;
	err = quantile_add(&class->quantiles[NR_PARTS], whole_ns);
	for (part = 0; part < end && !err; part++) {
		if (!fault->parts_ns[part])
			continue;
		class->had[part]++;
		class->total_ns[part] += fault->parts_ns[part];
		err = quantile_add(&class->quantiles[part], fault->parts_ns[part]);
	}
	return err;
}

static int add_to_file(struct analysis *analysis, const struct explained *fault)
{
	const struct group_key key = { .inode = fault->inode, .dev = fault->dev };
	const struct space_map *map;
	struct cell *made;
	int err;

	err = groups_add(analysis->groups[GROUP_BY_FILE], &key, fault, &made);
	if (err || !made || !fault->inode)
		return err;
	made->path = spaces_file_path(analysis->spaces, fault->dev, fault->inode);
	map = made->path ? NULL : spaces_find(analysis->spaces, fault->pid, fault->address);
	/* Its device is another (btrfs). */
	if (map && space_map_has_file(map) && map->inode == fault->inode)
		made->path = map->path;
	return 0;
}

static int add_to_vma(struct analysis *analysis, const struct explained *fault)
{
	const struct space_map *map = spaces_find(analysis->spaces, fault->pid, fault->address);
	struct group_key key = { .pid = fault->pid };
	struct cell *made;

	if (map) {
		key.address = map->start;
		key.end = map->end;
		key.path = map->path;
	}
	return groups_add(analysis->groups[GROUP_BY_VMA], &key, fault, &made);
}

static int add_to_thread(struct analysis *analysis, const struct explained *fault)
{
	const struct group_key key = { .pid = fault->pid, .tid = fault->tid };
	struct cell *made;
	int err;

	err = groups_add(analysis->groups[GROUP_BY_THREAD], &key, fault, &made);
	if (!err && made)
		strcpy(made->comm, spaces_comm(analysis->spaces, fault->tid));
	return err;
}

static struct group_key code_key(struct analysis *analysis, const struct explained *fault)
{
	const struct space_map *map = spaces_find(analysis->spaces, fault->pid, fault->ip);

	if (!map || !space_map_has_file(map))
		return (struct group_key){ .pid = fault->pid, .address = fault->ip };
	return (struct group_key){
		.path = map->path, .address = fault->ip - map->start + (map->pgoff << 12),
	};
}

static int add_to_code(struct analysis *analysis, const struct explained *fault)
{
	const struct group_key key = code_key(analysis, fault);
	struct cell *made;

	return groups_add(analysis->groups[GROUP_BY_CODE], &key, fault, &made);
}

static int add_to_stack(struct analysis *analysis, const struct explained *fault)
{
	struct group_key key = { 0 };
	struct cell *made;
	int err;

	err = stacks_of_fault(analysis->stacks, analysis->spaces, fault, &key.address);
	return err ? err : groups_add(analysis->groups[GROUP_BY_STACK], &key, fault, &made);
}

/* A name fills the two words of 8 bytes. */
static int add_to_comm(struct analysis *analysis, const struct explained *fault)
{
	struct group_key key = { 0 };
	struct cell *made;
	char comm[16] = "";
	int err;

	strcpy(comm, spaces_comm(analysis->spaces, fault->tid));
	memcpy(&key.address, comm, 8);
	memcpy(&key.end, comm + 8, 8);
	err = groups_add(analysis->groups[GROUP_BY_COMM], &key, fault, &made);
	if (!err && made)
		memcpy(made->comm, comm, sizeof(made->comm));
	return err;
}

static int add_to_groups(struct analysis *analysis, const struct explained *fault)
{
	static int (*const add_to[NR_GROUP_BY])(struct analysis *analysis,
						const struct explained *fault) = {
		[GROUP_BY_FILE] = add_to_file, [GROUP_BY_VMA] = add_to_vma,
		[GROUP_BY_THREAD] = add_to_thread, [GROUP_BY_CODE] = add_to_code,
		[GROUP_BY_STACK] = add_to_stack, [GROUP_BY_COMM] = add_to_comm,
	};
	enum group_by by;
	int err = 0;

	for (by = 0; by < NR_GROUP_BY && !err; by++)
		if (analysis->groups[by])
			err = add_to[by](analysis, fault);
	return err;
}

static int take_fault(void *context, const struct explained *fault)
{
	struct analysis *analysis = context;
	unsigned int i;
	int err;

	err = add_to_class(analysis, fault);
	if (!err)
		err = add_to_groups(analysis, fault);
	if (!err)
		err = readahead_add_fault(analysis->readahead, fault);
	if (!err)
		err = blame_add_fault(analysis->blame, fault);
	for (i = 0; i < analysis->nr_listeners && !err; i++)
		err = analysis->listeners[i].sink(analysis->listeners[i].context, fault);
	return err;
}

static int add_block(struct analysis *analysis, const struct pfstat_block *block)
{
	struct block_figures *figures = &analysis->blocks.figures;
	const uint64_t queue_ns = item_elapsed(block->insert_ns, block->issue_ns);
	const uint64_t device_ns = item_elapsed(block->issue_ns, block->event.ns);
	int err;

	figures->errors += !!(block->event.flags & PFSTAT_BLOCK_ERROR);
	if (block->event.flags & PFSTAT_BLOCK_WRITE) {
		figures->writes++;
		figures->bytes_written += block->bytes;
		return 0;
	}
	figures->reads++;
	figures->bytes_read += block->bytes;
	figures->queue.total_ns += queue_ns;
	figures->device.total_ns += device_ns;
	err = quantile_add(&analysis->blocks.queue, queue_ns);
	if (!err)
		err = quantile_add(&analysis->blocks.device, device_ns);
	if (!err)
		err = readahead_add_block(analysis->readahead, block);
	return err ? err : blame_add_read(analysis->blame, block);
}

/* NULL: there is none, or nobody asked for that dimension. */
static struct cell *find_cell(const struct analysis *analysis, enum group_by by,
			      const struct group_key *key)
{
	return analysis->groups[by] ? groups_find(analysis->groups[by], key) : NULL;
}

/* A program that a thread executes gives it another name. */
static void rename_thread(struct analysis *analysis, const struct pfstat_task *task)
{
	const struct group_key key = { .pid = task->event.pid, .tid = task->event.tid };
	struct cell *cell = find_cell(analysis, GROUP_BY_THREAD, &key);

	if (cell)
		strcpy(cell->comm, spaces_comm(analysis->spaces, task->event.tid));
}

/*
 * The kernel gives the number of a thread that ended to another one. A fork closes the group
 * as well: the end before it may have been lost.
 */
static int close_thread(struct analysis *analysis, uint32_t pid, uint32_t tid)
{
	const struct group_key key = { .pid = pid, .tid = tid };
	struct groups *threads = analysis->groups[GROUP_BY_THREAD];

	return threads ? groups_close(threads, &key) : 0;
}

static int end_groups(struct analysis *analysis, const struct pfstat_task *task)
{
	const struct pfstat_event *event = &task->event;

	if (event->flags & (PFSTAT_TASK_EXIT | PFSTAT_TASK_FORK))
		return close_thread(analysis, event->pid, event->tid);
	if (event->flags & PFSTAT_TASK_EXEC && task->parent != event->tid)
		return close_thread(analysis, event->pid, task->parent);
	return 0;
}

static int add_task(struct analysis *analysis, const struct pfstat_task *task)
{
	const bool begins = task->event.flags & PFSTAT_TASK_EXEC;
	const bool ends = task->event.flags & PFSTAT_TASK_EXIT;
	/* Who executes begins anew, under another number if it was not the first thread. */
	const uint32_t ended = ends ? task->event.tid : task->parent;
	int err;

	if (ends || begins)
		summary_end_thread(analysis->summary, ended);
	/* Its last faults are told first: they need its maps, its stacks and its name. */
	err = explain_event(analysis->explain, &task->event);
	if (ends || begins)
		stacks_end_thread(analysis->stacks, ended);
	if (!err)
		err = end_groups(analysis, task);
	if (!err)
		err = spaces_add_task(analysis->spaces, task);
	if (!err && begins)
		rename_thread(analysis, task);
	return err;
}

static void add_stay(struct analysis *analysis, const struct pfstat_off_cpu *stay)
{
	if (stay->event.flags & PFSTAT_OFF_CPU_PREEMPTED)
		analysis->preempted++;
	else
		analysis->voluntary++;
	analysis->off_cpu_ns += item_elapsed(stay->off_ns, stay->event.ns);
}

/* A range may lie in several mappings; a call that succeeded met no gap between them. */
static int add_advice(struct analysis *analysis, const struct pfstat_advice *advice)
{
	const uint64_t end = advice->address + advice->bytes;
	uint64_t address = advice->address, until;
	const struct space_map *map;
	int err = 0;

	while (analysis->advice_sink && address < end && !err) {
		map = spaces_find(analysis->spaces, advice->event.pid, address);
		if (!map)
			return 0;
		until = map->end < end ? map->end : end;
		if (space_map_has_file(map))
			err = analysis->advice_sink(analysis->advice_context, &(struct file_advice){
				.path = spaces_path(analysis->spaces, map->path),
				.inode = map->inode,
				.page = map->pgoff + ((address - map->start) >> 12),
				.pages = (until - address + 4095) >> 12,
				.start_ns = advice->start_ns, .end_ns = advice->event.ns,
				.advice = advice->advice,
			});
		address = until;
	}
	return err;
}

static int add_event(struct analysis *analysis, const struct pfstat_event *event)
{
	int err = 0;

	switch (event->type) {
	case PFSTAT_EVENT_TASK:
		return add_task(analysis, (const struct pfstat_task *)event);
	case PFSTAT_EVENT_PAGE:
		err = readahead_remove_page(analysis->readahead,
					    (const struct pfstat_page *)event);
		return err ? err : blame_remove(analysis->blame, (const struct pfstat_page *)event);
	case PFSTAT_EVENT_OFF_CPU:
		add_stay(analysis, (const struct pfstat_off_cpu *)event);
		err = summary_add_off_cpu(analysis->summary, (const struct pfstat_off_cpu *)event);
		break;
	case PFSTAT_EVENT_BLOCK:
		err = add_block(analysis, (const struct pfstat_block *)event);
		break;
	case PFSTAT_EVENT_ADVICE:
		return add_advice(analysis, (const struct pfstat_advice *)event);
	case PFSTAT_EVENT_STACK:
		return stacks_add(analysis->stacks, (const struct pfstat_stack *)event);
	case PFSTAT_EVENT_FAULT:
		break;
	default:
		return -EINVAL;
	}
	return err ? err : explain_event(analysis->explain, event);
}

static int add_record(struct analysis *analysis, const struct pfstat_record *record)
{
	int err;

	if (record->order > ORDER_MAX)
		return -EINVAL;
	err = summary_add_record(analysis->summary, record);
	return err ? err : explain_record(analysis->explain, record);
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
		return spaces_add_map(analysis->spaces, item->map);
	default:
		return -EINVAL;
	}
}

/* For whoever wants the histograms. */
static int add_zeros(struct class_faults *class)
{
	enum part part;
	int err = 0;

	for (part = 0; part < NR_PARTS && !err; part++)
		if (class->quantiles[part].count < class->count)
			err = quantile_add_many(&class->quantiles[part], 0,
						class->count - class->quantiles[part].count);
	return err;
}

int analysis_finish(struct analysis *analysis)
{
	enum fault_class class;
	int err;

	err = explain_finish(analysis->explain);
	for (class = 0; class < NR_FAULT_CLASSES && !err; class++)
		if (analysis->classes[class].count)
			err = add_zeros(&analysis->classes[class]);
	return err;
}

const struct summary *analysis_summary(const struct analysis *analysis)
{
	return analysis->summary;
}

/* count: with those that had nothing of the part, and so 0 of it. */
static void fill_part(struct part_figures *figures, const struct quantiles *const *several,
		      size_t nr, uint64_t count, uint64_t total_ns)
{
	uint64_t zeros = count;
	size_t i;

	figures->max_ns = 0;
	for (i = 0; i < nr; i++) {
		zeros -= several[i]->count;
		if (several[i]->max_ns > figures->max_ns)
			figures->max_ns = several[i]->max_ns;
	}
	figures->total_ns = total_ns;
	figures->p50_ns = quantile_with_zeros(several, nr, zeros, 500);
	figures->p99_ns = quantile_with_zeros(several, nr, zeros, 990);
}

static void analysis_fill_faults(const struct analysis *analysis, enum fault_class from,
				 enum fault_class to,
				 struct fault_figures *figures)
{
	const struct quantiles *several[NR_FAULT_CLASSES];
	const struct class_faults *class;
	struct part_figures *filled;
	uint64_t total_ns;
	unsigned int part;
	enum fault_class i;

	*figures = (struct fault_figures){ 0 };
	for (i = from; i < to; i++) {
		class = &analysis->classes[i];
		figures->count += class->count;
		figures->major += class->major;
		figures->unsolved += class->unsolved;
		figures->pages += class->pages;
	}
	for (part = 0; part <= NR_PARTS; part++) {
		filled = part == NR_PARTS ? &figures->whole : &figures->parts[part];
		total_ns = 0;
		for (i = from; i < to; i++) {
			class = &analysis->classes[i];
			several[i - from] = &class->quantiles[part];
			filled->faults += class->had[part];
			total_ns += class->total_ns[part];
		}
		fill_part(filled, several, to - from, figures->count, total_ns);
	}
}

void analysis_faults(const struct analysis *analysis, enum fault_class class,
		     struct fault_figures *figures)
{
	analysis_fill_faults(analysis, class, class + 1, figures);
}

void analysis_all_faults(const struct analysis *analysis, struct fault_figures *figures)
{
	analysis_fill_faults(analysis, 0, NR_FAULT_CLASSES, figures);
}

const struct quantiles *analysis_histogram(const struct analysis *analysis,
					   enum fault_class class, enum part part)
{
	const struct class_faults *faults = &analysis->classes[class];

	return faults->count ? &faults->quantiles[part] : NULL;
}

void analysis_readahead(const struct analysis *analysis, struct readahead_figures *figures)
{
	readahead_figures(analysis->readahead, figures);
}

uint64_t analysis_dropped(const struct analysis *analysis)
{
	return spaces_dropped(analysis->spaces);
}

void analysis_evictions(const struct analysis *analysis, struct blame_figures *figures)
{
	blame_figures(analysis->blame, figures);
}

int analysis_blame(const struct analysis *analysis, struct blame_pair **pairs, size_t *nr)
{
	return blame_pairs(analysis->blame, pairs, nr);
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
	const struct quantiles *queue = &analysis->blocks.queue, *device = &analysis->blocks.device;

	*figures = analysis->blocks.figures;
	figures->queue.faults = figures->reads;
	figures->device.faults = figures->reads;
	fill_part(&figures->queue, &queue, 1, figures->reads, figures->queue.total_ns);
	fill_part(&figures->device, &device, 1, figures->reads, figures->device.total_ns);
}

static const char *path_or(const struct analysis *analysis, uint32_t path, const char *other)
{
	return path ? spaces_path(analysis->spaces, path) : other;
}

static void analysis_print_file(FILE *names, const struct analysis *analysis,
				const struct cell *cell)
{
	uint32_t path = spaces_file_path(analysis->spaces, cell->key.dev, cell->key.inode);

	if (!cell->key.inode)
		fputs("(anonymous memory)", names);
	else if (path || cell->path)
		fputs(spaces_path(analysis->spaces, path ? path : cell->path), names);
	else
		fprintf(names, "(device %u:%u inode %" PRIu64 ")", cell->key.dev >> 20,
			cell->key.dev & 0xfffff, cell->key.inode);
}

char *analysis_file_name(const struct analysis *analysis, uint32_t dev, uint64_t inode)
{
	const struct cell cell = { .key = { .dev = dev, .inode = inode } };
	char *name = NULL;
	size_t length;
	FILE *out = open_memstream(&name, &length);

	if (!out)
		return NULL;
	analysis_print_file(out, analysis, find_cell(analysis, GROUP_BY_FILE, &cell.key) ?: &cell);
	if (!fclose(out))
		return name;
	free(name);
	return NULL;
}

static void print_vma(FILE *names, const struct analysis *analysis, const struct cell *cell)
{
	if (cell->key.end)
		fprintf(names, "%u %" PRIx64 "-%" PRIx64 " %s", cell->key.pid,
			cell->key.address, cell->key.end,
			path_or(analysis, cell->key.path, "(anonymous memory)"));
	else
		fprintf(names, "%u (no mapping known)", cell->key.pid);
}

static void print_thread(FILE *names, const struct cell *cell)
{
	if (cell->comm[0])
		fprintf(names, "%s (%u)", cell->comm, cell->key.tid);
	else
		fprintf(names, "(%u)", cell->key.tid);
}

static void print_code(FILE *names, const struct analysis *analysis, const struct cell *cell)
{
	const char *path = spaces_path(analysis->spaces, cell->key.path);

	if (!cell->key.path && !cell->key.address)
		fputs("(not known)", names);
	else if (!cell->key.path && cell->symbol)
		fprintf(names, "%s (pid %u)", cell->symbol, cell->key.pid);
	else if (!cell->key.path)
		fprintf(names, "0x%" PRIx64 " (pid %u)", cell->key.address, cell->key.pid);
	else if (cell->symbol)
		fprintf(names, "%s (%s)", cell->symbol, path);
	else
		fprintf(names, "0x%" PRIx64 " (%s)", cell->key.address, path);
}

static void fill_group(struct group *group, const struct cell *cell)
{
	enum fault_class class;

	group->number = cell->number;
	group->pid = cell->key.pid;
	group->tid = cell->key.tid;
	group->address = cell->key.address;
	group->inode = cell->key.inode;
	group->dev = cell->key.dev;
	group->faults = cell->faults;
	group->major = cell->major;
	group->total_ns = cell->total_ns;
	group->max_ns = cell->max_ns;
	memcpy(group->parts_ns, cell->parts_ns, sizeof(group->parts_ns));
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		group->classes[class] = cell->classes[class];
}

struct listing {
	const struct analysis *analysis;
	enum group_by by;
	struct group *groups;
	size_t nr;
	FILE *names;		/* of all of them, each with its 0 */
};

static void print_name(const struct listing *listing, const struct cell *cell)
{
	const struct analysis *analysis = listing->analysis;

	switch (listing->by) {
	case GROUP_BY_FILE:
		analysis_print_file(listing->names, analysis, cell);
		break;
	case GROUP_BY_VMA:
		print_vma(listing->names, analysis, cell);
		break;
	case GROUP_BY_THREAD:
		print_thread(listing->names, cell);
		break;
	case GROUP_BY_COMM:
		fputs(cell->comm[0] ? cell->comm : "(not known)", listing->names);
		break;
	case GROUP_BY_STACK:
		stacks_print(analysis->stacks, analysis->spaces, cell->key.address,
			     listing->names);
		break;
	default:
		print_code(listing->names, analysis, cell);
	}
	fputc('\0', listing->names);
}

static int list_cell(void *context, struct cell *cell)
{
	struct listing *listing = context;
	struct group *group = &listing->groups[listing->nr++];

	fill_group(group, cell);
	if (listing->by == GROUP_BY_STACK || listing->by == GROUP_BY_THREAD ||
	    listing->by == GROUP_BY_COMM)
		group->address = 0;
	print_name(listing, cell);
	return 0;
}

static void list_others(struct listing *listing, const struct cell *others)
{
	fill_group(&listing->groups[listing->nr++], others);
	fwrite(GROUP_OTHERS, sizeof(GROUP_OTHERS), 1, listing->names);
}

/* One piece of memory: the rows, and their names behind them. -ENOMEM. */
static int put_names(struct listing *listing, const char *names, size_t length)
{
	const size_t rows = listing->nr * sizeof(*listing->groups);
	struct group *groups;
	char *name;
	size_t i;

	/* Without a row there is no name either: realloc() to 0 bytes is free(). */
	if (!listing->nr)
		return 0;
	groups = realloc(listing->groups, rows + length);
	if (!groups)
		return -ENOMEM;
	name = (char *)groups + rows;
	memcpy(name, names, length);
	for (i = 0; i < listing->nr; i++) {
		groups[i].name = name;
		name += strlen(name) + 1;
	}
	listing->groups = groups;
	return 0;
}

static int costliest_first(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	/* Two threads that had the same number may have the same name. */
	return strcmp(left->name, right->name) ?:
	       (left->number > right->number) - (left->number < right->number);
}

int analysis_groups(const struct analysis *analysis, enum group_by by, struct group **groups,
		    size_t *nr)
{
	const struct groups *kept = analysis->groups[by];
	struct listing listing = { .analysis = analysis, .by = by };
	const struct cell *others;
	char *names = NULL;
	size_t length;
	int err;

	if (!kept)
		return -EINVAL;
	others = groups_others(kept);
	listing.names = open_memstream(&names, &length);
	listing.groups = calloc(groups_count(kept) + 1, sizeof(*listing.groups));
	if (listing.names && listing.groups) {
		groups_visit(kept, list_cell, &listing);
		if (others)
			list_others(&listing, others);
	}
	err = !listing.names || fclose(listing.names) || !listing.groups ? -ENOMEM :
		put_names(&listing, names, length);
	free(names);
	if (err) {
		free(listing.groups);
		return err;
	}
	qsort(listing.groups, listing.nr, sizeof(*listing.groups), costliest_first);
	*groups = listing.groups;
	*nr = listing.nr;
	return 0;
}

struct code_visit {
	const struct analysis *analysis;
	code_visitor visit;
	void *context;
};

static int visit_code_cell(void *context, struct cell *cell)
{
	const struct code_visit *visit = context;
	const struct code_place place = {
		.path = spaces_path(visit->analysis->spaces, cell->key.path),
		.inode = spaces_path_inode(visit->analysis->spaces, cell->key.path),
		.offset = cell->key.address,
		.pid = cell->key.pid,
	};

	return cell->key.path || cell->key.address ? visit->visit(visit->context, &place) : 0;
}

/* Where a fault was has been visited. */
static int visit_stack_place(void *context, const struct stack_place *at)
{
	const struct code_visit *visit = context;
	const struct group_key key = { .path = at->path, .address = at->offset };
	const struct code_place place = {
		.path = spaces_path(visit->analysis->spaces, at->path),
		.inode = spaces_path_inode(visit->analysis->spaces, at->path),
		.offset = at->offset,
	};

	return find_cell(visit->analysis, GROUP_BY_CODE, &key) ? 0 :
		visit->visit(visit->context, &place);
}

int analysis_visit_code(const struct analysis *analysis, code_visitor visit, void *context)
{
	const struct groups *codes = analysis->groups[GROUP_BY_CODE];
	struct code_visit all = { analysis, visit, context };
	int err = codes ? groups_visit(codes, visit_code_cell, &all) : 0;

	return err ? err : stacks_visit(analysis->stacks, visit_stack_place, &all);
}

static int name_code_cell(struct analysis *analysis, const struct group_key *key,
			  const char *symbol)
{
	struct cell *cell = find_cell(analysis, GROUP_BY_CODE, key);

	if (!cell)
		return 0;
	free(cell->symbol);
	cell->symbol = strdup(symbol);
	return cell->symbol ? 0 : -ENOMEM;
}

int analysis_name_address(struct analysis *analysis, uint32_t pid, uint64_t address,
			  const char *symbol)
{
	const struct group_key key = { .pid = pid, .address = address };

	return name_code_cell(analysis, &key, symbol);
}

int analysis_name_code(struct analysis *analysis, const char *path, uint64_t offset,
		       const char *symbol)
{
	const struct stack_place at = {
		.path = spaces_path_number(analysis->spaces, path), .offset = offset,
	};
	const struct group_key key = { .path = at.path, .address = offset };
	int err;

	if (!at.path)
		return 0;
	err = name_code_cell(analysis, &key, symbol);
	return err ? err : stacks_name_place(analysis->stacks, &at, symbol);
}
