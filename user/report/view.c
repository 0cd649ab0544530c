// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <seccomp.h>

#include "view.h"

void view_run(struct view *view, const struct report *run)
{
	static const enum pfstat_class every[] = {
		PFSTAT_CLASS_DISK, PFSTAT_CLASS_WAIT, PFSTAT_CLASS_READAHEAD,
		PFSTAT_CLASS_SHORT, PFSTAT_CLASS_LONG, PFSTAT_CLASS_AROUND,
		PFSTAT_CLASS_MKWRITE, PFSTAT_CLASS_PASS, PFSTAT_CLASS_ERROR,
	};

	_Static_assert(sizeof(every) / sizeof(every[0]) == PFSTAT_NR_CLASSES, "a class is missing");
	view->run = run;
	summary_figures(run->summary, &view->figures);
	/* The columns are consecutive parts of the list. */
	summary_combine(run->summary, &every[0], 3, &view->study[STUDY_DISK]);
	summary_combine(run->summary, &every[3], 1, &view->study[STUDY_SHORT]);
	summary_combine(run->summary, &every[4], 2, &view->study[STUDY_LONG]);
	summary_combine(run->summary, &every[0], 6, &view->study[STUDY_ALL]);
	summary_combine(run->summary, every, PFSTAT_NR_CLASSES, &view->every);
}

double view_mean_ns(const struct class_figures *figures)
{
	return view_share(figures->total_ns, figures->count);
}

double view_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : NAN;
}

struct spread view_spread(const double *values, size_t nr)
{
	struct spread spread = { 0 };
	double squares = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		spread.mean += values[i] / nr;
	/* Two passes: the difference of two large sums would lose the digits. */
	for (i = 0; i < nr; i++)
		squares += (values[i] - spread.mean) * (values[i] - spread.mean);
	spread.stddev = nr > 1 ? sqrt(squares / (nr - 1)) : squares;
	return spread;
}

bool view_unexplained(const struct difference *difference)
{
	return difference->amount && !difference->why[0];
}

const char *view_class_name(enum pfstat_class class)
{
	static const char *const names[PFSTAT_NR_CLASSES] = PFSTAT_CLASS_NAMES;

	return names[class];
}

char *view_syscall_name(uint32_t number)
{
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
}
