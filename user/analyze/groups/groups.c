// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fault sums by key, for one dimension. grouping.c makes the keys, and lists the groups for the
 * reports. A full table folds the cheapest groups into one, so each new group gets a row. The sums
 * over all rows equal the sums over all faults. folding_choose() has the rule.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/groups/groups.h"
#include "util/hash.h"

struct groups {
	struct hash cells; /* by key hash */
	size_t count, max;
	uint64_t admitted; /* groups ever */
	uint64_t folded;   /* groups in `others`, each counted as often as it was folded */
	uint64_t floor_ns;
	/* A group that was found is found again here, without the hash table. NULL: none. */
	struct cell **recent;
	size_t nr_recent; /* a power of two */
	struct cell others;
};

struct groups *groups_new(size_t max)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->max = max;
	groups->nr_recent = 1;
	while (groups->nr_recent < max)
		groups->nr_recent *= 2;
	groups->recent = calloc(groups->nr_recent, sizeof(*groups->recent));
	if (groups->recent)
		return groups;
	free(groups);
	return NULL;
}

void group_add(struct group *sum, const struct group *group)
{
	unsigned int i;

	sum->faults += group->faults;
	sum->major += group->major;
	sum->fetches += group->fetches;
	sum->total_ns += group->total_ns;
	if (group->max_ns > sum->max_ns)
		sum->max_ns = group->max_ns;
	sum->kernel_ns += group->kernel_ns;
	sum->read_bytes += group->read_bytes;
	for (i = 0; i < NR_FAULT_CLASSES; i++)
		sum->classes[i] += group->classes[i];
	for (i = 0; i < NR_PARTS; i++)
		sum->parts_ns[i] += group->parts_ns[i];
	sum->others_max_ns += group->others_max_ns;
}

static void free_cells(void *value)
{
	struct cell *cell = value, *next;

	for (; cell; cell = next) {
		next = cell->next;
		free(cell);
	}
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	hash_exit(&groups->cells, free_cells);
	free(groups->recent);
	free(groups);
}

static bool is(const struct cell *cell, const struct group_key *key)
{
	return !memcmp(&cell->key, key, sizeof(*key));
}

static struct cell *find_in(struct cell *cell, const struct group_key *key)
{
	while (cell && !is(cell, key))
		cell = cell->next;
	return cell;
}

/* Threads, files and code with neighbouring numbers have neighbouring places. */
static struct cell **groups_recent(struct groups *groups, const struct group_key *key)
{
	const uint64_t mixed = key->address + key->inode + key->tid;

	return &groups->recent[(mixed ^ mixed >> 12) & (groups->nr_recent - 1)];
}

struct cell *groups_find(const struct groups *groups, const struct group_key *key)
{
	return find_in(hash_find(&groups->cells, hash_of(key, sizeof(*key))), key);
}

/* Adds the cell to the table. Returns 0, or -ENOMEM without adding it. */
static int groups_insert(struct groups *groups, struct cell *cell)
{
	const uint64_t hash = hash_of(&cell->key, sizeof(cell->key));
	struct cell *first = hash_find(&groups->cells, hash);

	cell->next = NULL;
	if (!first)
		return hash_add(&groups->cells, hash, cell);
	cell->next = first->next;
	first->next = cell;
	return 0;
}

/* Returns 0, or -ENOMEM without the other cells that have the same hash. */
static int groups_take_out(struct groups *groups, struct cell *cell)
{
	const uint64_t hash = hash_of(&cell->key, sizeof(cell->key));
	struct cell *first = hash_find(&groups->cells, hash), *before = first;
	int err;

	if (first != cell) {
		while (before->next != cell)
			before = before->next;
		before->next = cell->next;
		return 0;
	}
	hash_take(&groups->cells, hash);
	err = cell->next ? hash_add(&groups->cells, hash, cell->next) : 0;
	if (err)
		free_cells(cell->next);
	return err;
}

static struct cell *groups_make_cell(struct groups *groups, const struct group_key *key)
{
	struct cell *cell = calloc(1, sizeof(*cell));

	if (!cell)
		return NULL;
	cell->key = *key;
	if (groups_insert(groups, cell)) {
		free(cell);
		return NULL;
	}
	groups->count++;
	cell->number = ++groups->admitted;
	cell->floor_ns = groups->floor_ns;
	return cell;
}

int groups_close(struct groups *groups, const struct group_key *key)
{
	struct cell *cell = groups_find(groups, key);
	int err;

	if (!cell)
		return 0;
	*groups_recent(groups, key) = NULL;
	err = groups_take_out(groups, cell);
	cell->closed = true;
	cell->key.address = cell->number;
	err = err ? err : groups_insert(groups, cell);
	if (err)
		free(cell);
	return err;
}

/*
 * perf does not show the faults that submit a read-ahead in between, so the next major fault may be
 * some read-ahead windows further.
 */
#define NEXT_PAGES_OF_PERF 64

static bool groups_is_next(const struct explained *fault, uint64_t next_page)
{
	return next_page && fault->pgoff >= next_page &&
	       fault->pgoff - next_page <= (fault->perf ? NEXT_PAGES_OF_PERF : 0);
}

static void groups_add_read(struct cell *cell, const struct explained *fault)
{
	const size_t places = sizeof(cell->next_pages) / sizeof(cell->next_pages[0]);
	size_t i;

	for (i = 0; i < places && !groups_is_next(fault, cell->next_pages[i]); i++)
		;
	if (i < places)
		cell->reads.next++;
	if (i < places && fault->perf)
		cell->reads.adjacent += fault->pgoff == cell->next_pages[i];
	else
		i = (fault->perf ? cell->major : cell->classes[FAULT_DISK]) % places;
	cell->next_pages[i] = fault->pgoff + 1;
	cell->reads.major_ns += fault->perf ? fault->end_ns - fault->start_ns : 0;
	if (!fault->request.event.size)
		return;
	cell->reads.requests++;
	cell->reads.bytes += fault->request.bytes;
}

static bool groups_is_read(const struct explained *fault)
{
	return fault->class == FAULT_DISK || fault->class == FAULT_WAIT ||
	       fault->class == FAULT_READAHEAD;
}

static void groups_add_read_time(struct group_reads *reads, const struct explained *fault)
{
	reads->total_ns += fault->end_ns - fault->start_ns;
	reads->waited_ns += fault->parts_ns[PART_QUEUE] + fault->parts_ns[PART_DEVICE];
	reads->cpu_after_ns += fault->parts_ns[PART_CPU_AFTER];
}

static void groups_add_to_cell(struct cell *cell, const struct explained *fault)
{
	const uint64_t whole_ns = fault->end_ns - fault->start_ns;
	enum part part;

	cell->faults++;
	cell->major += fault->major;
	cell->fetches += !!(fault->flags & PFSTAT_FLAG_INSTRUCTION);
	cell->total_ns += whole_ns;
	cell->kernel_ns += fault->flags & PFSTAT_FLAG_USER ? 0 : whole_ns;
	cell->read_bytes += fault->read_bytes;
	if (whole_ns > cell->max_ns)
		cell->max_ns = whole_ns;
	cell->classes[fault->class]++;
	if (fault->class == FAULT_DISK || (fault->perf && fault->major))
		groups_add_read(cell, fault);
	if (groups_is_read(fault))
		groups_add_read_time(&cell->reads, fault);
	for (part = 0; part < NR_PARTS; part++)
		cell->parts_ns[part] += fault->parts_ns[part];
}

/* Adds one cell's sums to another's. */
static void groups_sum(struct cell *sum, const struct cell *cell)
{
	enum fault_class class;
	enum part part;

	sum->faults += cell->faults;
	sum->major += cell->major;
	sum->total_ns += cell->total_ns;
	sum->read_bytes += cell->read_bytes;
	if (cell->max_ns > sum->max_ns)
		sum->max_ns = cell->max_ns;
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		sum->classes[class] += cell->classes[class];
	for (part = 0; part < NR_PARTS; part++)
		sum->parts_ns[part] += cell->parts_ns[part];
	sum->reads.major_ns += cell->reads.major_ns;
	sum->reads.adjacent += cell->reads.adjacent;
	sum->reads.next += cell->reads.next;
	sum->reads.requests += cell->reads.requests;
	sum->reads.bytes += cell->reads.bytes;
}

static int groups_fold_cell(struct groups *groups, struct cell *cell)
{
	int err = groups_take_out(groups, cell);

	groups_sum(&groups->others, cell);
	groups->count--;
	groups->folded++;
	free(cell);
	return err;
}

static int groups_collect(void *context, void *value)
{
	struct folding_entry **next = context;
	struct cell *cell;

	for (cell = value; cell; cell = cell->next)
		*(*next)++ = (struct folding_entry){ .weight = cell->floor_ns + cell->total_ns,
						     .number = cell->number,
						     .closed = cell->closed,
						     .value = cell };
	return 0;
}

static int groups_fold(struct groups *groups)
{
	struct folding_entry *entries = calloc(groups->count, sizeof(*entries)), *next = entries;
	size_t i, nr;
	int err = 0;

	if (!entries)
		return -ENOMEM;
	hash_visit(&groups->cells, groups_collect, &next);
	nr = folding_choose(entries, groups->count, &groups->floor_ns);
	memset(groups->recent, 0, groups->nr_recent * sizeof(*groups->recent));
	for (i = 0; i < nr && !err; i++)
		err = groups_fold_cell(groups, entries[i].value);
	free(entries);
	return err;
}

int groups_add(struct groups *groups, const struct group_key *key, const struct explained *fault,
	       struct cell **made)
{
	struct cell **recent = groups_recent(groups, key), *cell = *recent;
	int err = 0;

	*made = NULL;
	if (!cell || !is(cell, key))
		cell = groups_find(groups, key);
	if (!cell && groups->count == groups->max)
		err = groups_fold(groups);
	if (err)
		return err;
	if (!cell) {
		cell = *made = groups_make_cell(groups, key);
		if (!cell)
			return -ENOMEM;
	}
	*recent = cell;
	groups_add_to_cell(cell, fault);
	return 0;
}

struct groups_visitor {
	int (*visit)(void *context, struct cell *cell);
	void *context;
};

static int visit_cells(void *context, void *value)
{
	const struct groups_visitor *visit = context;
	struct cell *cell = value;
	int err = 0;

	for (; cell && !err; cell = cell->next)
		err = visit->visit(visit->context, cell);
	return err;
}

int groups_visit(const struct groups *groups, int (*visit)(void *context, struct cell *cell),
		 void *context)
{
	struct groups_visitor all = { visit, context };

	return hash_visit(&groups->cells, visit_cells, &all);
}

size_t groups_count(const struct groups *groups)
{
	return groups->count;
}

const struct cell *groups_others(const struct groups *groups)
{
	return groups->folded ? &groups->others : NULL;
}

void groups_folded(const struct groups *groups, struct groups_folded *folded)
{
	*folded = (struct groups_folded){ .groups = groups->folded, .max_ns = groups->floor_ns };
}

/*
 * Joins mapping groups for grouping.c. perf reports the whole mapping when it grows or is merged,
 * and a group has the range known at the first fault. Two groups are one mapping if the later range
 * contains the earlier one, or if they continue each other in the same file with the same
 * protection. The sums over all rows stay the same.
 */

#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

/* Cells that can be joined are neighbours: by address, and the largest first. */
static int joined_vmas_order(const struct cell *a, const struct cell *b)
{
	return COMPARE(a->key.pid, b->key.pid)			 ?:
		       COMPARE(a->key.path, b->key.path)	 ?:
		       COMPARE(a->vma.has_file, b->vma.has_file) ?:
		       COMPARE(a->vma.base, b->vma.base)	 ?:
		       COMPARE(a->vma.flags & MAP_TYPE, b->vma.flags & MAP_TYPE);
}

static int joined_vmas_compare(const void *a, const void *b)
{
	const struct cell *left = a, *right = b;

	return joined_vmas_order(left, right)			      ?:
		       COMPARE(left->key.address, right->key.address) ?:
		       COMPARE(right->key.end, left->key.end)	      ?:
		       COMPARE(left->number, right->number);
}

/* @next starts at the start of @cell or above. */
static bool joined_vmas_is_same(const struct cell *cell, const struct cell *next)
{
	if (!cell->key.end || !next->key.end || joined_vmas_order(cell, next))
		return false;
	if (cell->vma.has_file && cell->vma.prot == next->vma.prot)
		return next->key.address <= cell->key.end;
	return next->key.end <= cell->key.end && next->vma.latest < cell->vma.latest;
}

static void joined_vmas_join(struct cell *cell, const struct cell *next)
{
	if (next->vma.latest > cell->vma.latest && next->state.known)
		cell->state = next->state;
	if (next->vma.latest > cell->vma.latest)
		cell->vma.latest = next->vma.latest;
	if (!cell->state.known)
		cell->state = next->state;
	if (next->key.end > cell->key.end)
		cell->key.end = next->key.end;
	if (next->number < cell->number)
		cell->number = next->number;
	cell->floor_ns += next->floor_ns;
	groups_sum(cell, next);
}

static int joined_vmas_copy(void *context, struct cell *cell)
{
	struct cell **next = context;

	**next = *cell;
	(*next)->vma.latest = cell->number;
	++*next;
	return 0;
}

int joined_vmas(const struct groups *groups, struct cell **cells, size_t *nr)
{
	const size_t count = groups_count(groups);
	struct cell *made = calloc(count + 1, sizeof(*made)), *next = made;
	size_t i, kept = 0;

	if (!made)
		return -ENOMEM;
	groups_visit(groups, joined_vmas_copy, &next);
	qsort(made, count, sizeof(*made), joined_vmas_compare);
	for (i = 0; i < count; i++) {
		if (kept && joined_vmas_is_same(&made[kept - 1], &made[i]))
			joined_vmas_join(&made[kept - 1], &made[i]);
		else
			made[kept++] = made[i];
	}
	*cells = made;
	*nr = kept;
	return 0;
}
