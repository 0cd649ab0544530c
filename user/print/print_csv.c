// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints views of runs as CSV: a header line, then one line for each class and run, or for each
 * group. The format is RFC 4180, except that lines end with \n only.
 */
#include <inttypes.h>

#include "print/csv_text.h"
#include "print/printers.h"

/* Prints n/a for a figure that was not measured, and for a quantile without calls. */
static void print_number(FILE *out, bool known, uint64_t number)
{
	if (known)
		fprintf(out, ",%" PRIu64, number);
	else
		fputs(",n/a", out);
}

static void print_fact(FILE *out, uint64_t fact)
{
	print_number(out, fact != COUNT_NA, fact);
}

static void print_class(FILE *out, const struct view *view, size_t number, enum pfstat_class class)
{
	const struct class_figures *figures = &view->figures.classes[class];
	const struct report *run = view->run;
	const bool known = !view_source_is_perf(run), any = known && figures->count;

	fprintf(out, "%zu,", number);
	csv_text(out, run->environment.pattern[0] ? run->environment.pattern : "n/a");
	fputc(',', out);
	csv_text(out, run->environment.cache[0] ? run->environment.cache : "n/a");
	fprintf(out, ",%s", fault_class_name((enum fault_class) class));
	print_number(out, known, figures->count);
	if (any)
		fprintf(out, ",%.3f", view_mean_ns(figures));
	else
		fputs(",n/a", out);
	print_number(out, any, figures->p50_ns);
	print_number(out, any, figures->p99_ns);
	print_number(out, any, figures->max_ns);
	print_number(out, known, figures->total_ns);
	print_number(out, known && run->bpf.known, figures->off_cpu_ns);
	print_fact(out, run->losses.records);
	print_fact(out, run->losses.events);
	fputc('\n', out);
}

static void print_classes(FILE *out, const struct view *views, size_t nr)
{
	enum pfstat_class class;
	size_t i;

	fputs("run,pattern,cache,class,count,mean_ns,p50_ns,p99_ns,max_ns,total_ns,off_cpu_ns,"
	      "lost_records,lost_events\n",
	      out);
	for (i = 0; i < nr; i++)
		for (class = 0; class < PFSTAT_NR_CLASSES; class++)
			print_class(out, &views[i], i + 1, class);
}

static void print_group_header(FILE *out)
{
	unsigned int i;

	fputs("by,name,pid,tid,address,inode,dev,faults,major,total_ns,mean_ns,max_ns", out);
	for (i = 0; i < NR_FAULT_CLASSES; i++)
		fprintf(out, ",%s", fault_class_name(i));
	for (i = 0; i < NR_PARTS; i++)
		fprintf(out, ",%s_ns", part_name(i));
	fputs(",lost_records,lost_events\n", out);
}

static void print_group(FILE *out, const struct report *run, const struct group *group)
{
	unsigned int i;

	fprintf(out, "%s,", view_group_name(run->groups.by));
	csv_text(out, group->name);
	print_number(out, group->pid, group->pid);
	print_number(out, group->tid, group->tid);
	print_number(out, group->address, group->address);
	print_number(out, group->inode, group->inode);
	print_number(out, group->inode, group->dev);
	print_number(out, true, group->faults);
	print_number(out, true, group->major);
	print_number(out, true, group->total_ns);
	fprintf(out, ",%.3f", view_share(group->total_ns, group->faults));
	print_number(out, true, group->max_ns);
	for (i = 0; i < NR_FAULT_CLASSES; i++)
		print_number(out, view_class_known(run, i), group->classes[i]);
	for (i = 0; i < NR_PARTS; i++)
		print_number(out, view_part_known(run, i), group->parts_ns[i]);
	print_fact(out, run->losses.records);
	print_fact(out, run->losses.events);
	fputc('\n', out);
}

/* The rows omitted by --top become one row, so the sum is complete. */
static void print_groups(FILE *out, const struct view *view)
{
	size_t i;

	print_group_header(out);
	for (i = 0; i < view->nr_rows; i++)
		print_group(out, view->run, &view->run->groups.rows[i]);
	if (view->nr_rows < view->run->groups.nr)
		print_group(out, view->run, &view->left_out);
}

int print_csv(FILE *out, const struct view *views, size_t nr)
{
	if (nr == 1 && views[0].run->groups.wanted)
		print_groups(out, &views[0]);
	else
		print_classes(out, views, nr);
	return 0;
}
