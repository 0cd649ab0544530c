// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a running analysis's last snapshot, and computes an interval's rows from the difference to
 * the next snapshot. cmd_top.c prints them. Pure: no clock and no terminal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"
#include "print/print_verdict.h"
#include "util/hash.h"

struct live *live_new(unsigned int by, uint64_t start_ns)
{
	struct live *live = calloc(1, sizeof(*live));

	if (live) {
		live->by = by;
		live->start_ns = start_ns;
		live->now_ns = start_ns;
	}
	return live;
}

static void table_clear(struct live_table *table)
{
	while (table->nr_rows)
		free(table->rows[--table->nr_rows].name);
}

void live_free(struct live *live)
{
	enum group_by by;

	if (!live)
		return;
	for (by = 0; by < NR_GROUP_BY; by++) {
		table_clear(&live->tables[by]);
		free(live->tables[by].before);
	}
	free(live->verdict);
	free(live);
}

static struct live_seen seen_of(enum group_by by, const struct group *group)
{
	struct live_seen seen = { .faults = group->faults, .total_ns = group->total_ns };

	/*
	 * Compares by identity, not by name. A thread's name changes at exec, and the tid may be
	 * reused, like a file's inode. The group "(others)" has only a name.
	 */
	if ((by == GROUP_BY_THREAD && group->tid) || group->inode)
		seen.key = group->number;
	else
		seen.key = hash_of(group->name, strlen(group->name));
	return seen;
}

static int by_key(const void *a, const void *b)
{
	const struct live_seen *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/*
 * Growth since the last snapshot. A lower count means the group was folded and re-created, so the
 * whole count is new.
 */
static uint64_t growth(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/*
 * Inserts the group into the sorted list of the costliest groups, if the list has room or the
 * group costs more than the last one. 0 or -ENOMEM.
 */
static int table_offer(struct live_table *table, const struct group *group, uint64_t faults,
		       uint64_t total_ns)
{
	size_t at = table->nr_rows;
	struct live_row *row;
	char *name;

	while (at && table->rows[at - 1].total_ns < total_ns)
		at--;
	if (at == LIVE_ROWS)
		return 0;
	name = strdup(group->name);
	if (!name)
		return -ENOMEM;
	if (table->nr_rows < LIVE_ROWS)
		table->nr_rows++;
	else
		free(table->rows[LIVE_ROWS - 1].name);
	row = &table->rows[at];
	memmove(row + 1, row, (table->nr_rows - at - 1) * sizeof(*row));
	*row = (struct live_row){ .name = name, .faults = faults, .total_ns = total_ns };
	return 0;
}

/* The group as it was in the last snapshot, or NULL if it was not in it. */
static const struct live_seen *table_find(const struct live_table *table,
					  const struct live_seen *seen)
{
	if (!table->nr_before)
		return NULL;
	return bsearch(seen, table->before, table->nr_before, sizeof(*seen), by_key);
}

/* Subtracts a group's growth from what remains of all groups' growth. */
static int table_take_group(struct live_table *table, const struct group *group,
			    const struct live_seen *seen, struct live_seen *rest)
{
	const struct live_seen *before = table_find(table, seen);
	const uint64_t faults = growth(seen->faults, before ? before->faults : 0);
	const uint64_t total_ns = growth(seen->total_ns, before ? before->total_ns : 0);

	rest->faults -= faults < rest->faults ? faults : rest->faults;
	rest->total_ns -= total_ns < rest->total_ns ? total_ns : rest->total_ns;
	return faults ? table_offer(table, group, faults, total_ns) : 0;
}

/*
 * The group "(others)" also grows by the earlier faults of groups folded into it. The growth of
 * "(others)" is what no other group has.
 */
static int table_take(struct live_table *table, enum group_by by, const struct group *groups,
		      size_t nr)
{
	struct live_seen *seen = calloc(nr + 1, sizeof(*seen)), sum = { 0 }, rest;
	const struct group *others = NULL;
	int err = 0;
	size_t i;

	if (!seen)
		return -ENOMEM;
	table_clear(table);
	for (i = 0; i < nr; i++) {
		seen[i] = seen_of(by, &groups[i]);
		sum.faults += groups[i].faults;
		sum.total_ns += groups[i].total_ns;
	}
	rest = (struct live_seen){ .faults = growth(sum.faults, table->faults),
				   .total_ns = growth(sum.total_ns, table->total_ns) };
	table->faults = sum.faults;
	table->total_ns = sum.total_ns;
	for (i = 0; i < nr && !err; i++) {
		if (group_is_others(&groups[i]))
			others = &groups[i];
		else
			err = table_take_group(table, &groups[i], &seen[i], &rest);
	}
	if (!err && others && rest.faults)
		err = table_offer(table, others, rest.faults, rest.total_ns);
	if (err) {
		free(seen);
		return err;
	}
	qsort(seen, nr, sizeof(*seen), by_key);
	free(table->before);
	table->before = seen;
	table->nr_before = nr;
	return 0;
}

int live_take(struct live *live, const struct live_snapshot *snapshot, uint64_t now_ns)
{
	enum group_by by;
	unsigned int class;
	int err;

	for (by = 0; by < NR_GROUP_BY; by++) {
		if (!(live->by & 1 << by))
			continue;
		err = table_take(&live->tables[by], by, snapshot->groups[by], snapshot->nr[by]);
		if (err)
			return err;
	}
	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		live->classes[class].faults = snapshot->faults[class] - live->faults[class];
		live->classes[class].total_ns = snapshot->total_ns[class] - live->total_ns[class];
		live->faults[class] = snapshot->faults[class];
		live->total_ns[class] = snapshot->total_ns[class];
	}
	live->new_major = snapshot->major - live->major;
	live->major = snapshot->major;
	live->counters = snapshot->counters;
	live->interval_ns = now_ns - live->now_ns;
	live->now_ns = now_ns;
	return 0;
}

static void take_classes(struct live_snapshot *snapshot, const struct analysis *analysis)
{
	struct fault_figures figures;
	enum fault_class class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		analysis_faults(analysis, class, &figures);
		snapshot->faults[class] = figures.count;
		snapshot->total_ns[class] = figures.whole.total_ns;
		snapshot->major += figures.major;
	}
}

int live_update(struct live *live, const struct analysis *analysis,
		const struct live_counters *counters, uint64_t now_ns)
{
	struct live_snapshot snapshot = { .counters = *counters };
	enum group_by by;
	int err = 0;

	take_classes(&snapshot, analysis);
	for (by = 0; by < NR_GROUP_BY && !err; by++)
		if (live->by & 1 << by)
			err = analysis_groups(analysis, by, &snapshot.groups[by], &snapshot.nr[by]);
	if (!err)
		err = live_take(live, &snapshot, now_ns);
	for (by = 0; by < NR_GROUP_BY; by++)
		free(snapshot.groups[by]);
	return err;
}

static char *live_print_verdict(const struct report *report)
{
	struct verdict verdict;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	verdict_make(&verdict, report);
	print_verdict(out, &verdict, report);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int live_report(struct report *report, struct run_counters *counters, const struct live *live,
		const struct analysis *analysis, bool have_bpf)
{
	int err;

	counters->start_ns = live->start_ns;
	counters->end_ns = live->now_ns;
	report->bpf.known = have_bpf;
	report->bpf.hooks = live->counters.hooks;
	report->bpf.user_only = live->counters.user_only;
	err = report_fill(report, analysis, counters);
	report->losses.records = live->counters.lost_records;
	report->losses.events = live->counters.lost_events;
	return err;
}

int live_judge(struct live *live, const struct analysis *analysis, bool have_bpf)
{
	struct run_counters counters;
	struct report report;
	int err;

	report_init(&report);
	run_counters_init(&counters);
	err = live_report(&report, &counters, live, analysis, have_bpf);
	if (!err) {
		free(live->verdict);
		live->verdict = live_print_verdict(&report);
		err = live->verdict ? 0 : -ENOMEM;
	}
	report_exit(&report);
	run_counters_exit(&counters);
	return err;
}
