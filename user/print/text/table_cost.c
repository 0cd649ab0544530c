// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines about pfstat's own cost. The costs come from the calibration before the run, and view.c
 * multiplies them by the counts.
 */
#include <math.h>

#include "print/text/cells.h"
#include "print/text/table.h"

static void print_total(FILE *out, double total_ns)
{
	if (isnan(total_ns))
		return;
	fputs(", ", out);
	cells_print_figure(out, total_ns / 1e6);
	fputs(" ms in total", out);
}

static void print_again(FILE *out, const struct own_cost *cost)
{
	if (isnan(cost->again_ns))
		fputs("  an upper bound: each retry by the kernel is counted as a whole fault\n",
		      out);
	else
		fprintf(out, "  %.0f ns for each fault retry by the kernel\n", cost->again_ns);
}

/* A fault with recorded calls has no separate event. */
static void print_counter(FILE *out, const struct report *run, const struct own_cost *cost)
{
	const char *counter = run->bpf.module_faults ? "the module" : "eBPF";

	if (isnan(cost->hooked_ns) || isnan(cost->other_ns)) {
		fprintf(out, "  all faults counted by %s: n/a\n", counter);
		return;
	}
	fprintf(out, "  all faults counted by %s: %.0f ns each", counter, cost->hooked_ns);
	print_total(out, cost->bpf_total_ns);
	fputs(view_source_is_bpf(run) ? "\n" : "; not in call times\n", out);
	if (run->cost.bpf_again)
		print_again(out, cost);
	fprintf(out, "  %.0f ns for each fault that %s\n", cost->other_ns,
		view_source_is_bpf(run) ? "calls no file operation" : "the module does not record");
}

static void print_counting(FILE *out, const struct report *run, const struct own_cost *cost)
{
	print_counter(out, run, cost);
	if (!run->bpf.module_faults && run->bpf.module_faults_missing[0])
		fprintf(out, "  eBPF counts all faults, not the module: %s\n",
			run->bpf.module_faults_missing);
}

/* eBPF's programs include those recording calls. */
static void print_inside(FILE *out, const struct report *run, const struct own_cost *cost)
{
	const char *of = view_source_is_bpf(run) ? "eBPF's" : "the module's";

	if (isnan(cost->inside_ns))
		return;
	fputs("  ", out);
	cells_print_figure(out, cost->inside_ns);
	fprintf(out, " ns of each call's time are %s own%s\n", of,
		run->cost.subtract ? ", and subtracted above" : "");
}

static void print_module(FILE *out, const struct report *run, const struct own_cost *cost)
{
	if (isnan(cost->call_ns)) {
		fprintf(out, "  the module records calls: n/a%s\n",
			run->cost.subtract ? "; nothing is subtracted" : "");
		return;
	}
	fputs("  the module records calls: ", out);
	cells_print_figure(out, cost->call_ns);
	fputs(" ns per call", out);
	print_total(out, cost->total_ns);
	fputc('\n', out);
}

void table_cost_sum(FILE *out, const struct report *run)
{
	const struct own_cost cost = view_own_cost(run);

	if (cost.missing) {
		fprintf(out, "Own cost: n/a, %s", cost.missing);
		return;
	}
	fputs("Own cost: ", out);
	cells_print_figure(out, cost.added_ns / 1e6);
	fputs(" ms added to the faults", out);
	/* The calibration is good to some percent of itself. */
	if (!isnan(cost.added_share))
		fprintf(out, ", about %.*f%% of their time", cost.added_share < 0.1 ? 1 : 0,
			100 * cost.added_share);
}

void table_cost(FILE *out, const struct report *run)
{
	const struct own_cost cost = view_own_cost(run);

	table_cost_sum(out, run);
	fputs(cost.missing ? "\n" : "; without system calls and sleeps\n", out);
	if (view_own_ran_ns(run))
		fprintf(out,
			"  pfdrive ran for at least %.3g ms while threads in faults waited for "
			"its CPU\n",
			view_own_ran_ns(run) / 1e6);
	/*
	 * The clock is read at the same point in both samples for a fault: one of them is inside.
	 */
	if (view_source_is_perf(run)) {
		if (!isnan(cost.other_ns))
			fprintf(out, "  perf: %.0f ns per fault; about half is in fault times\n",
				cost.other_ns);
		return;
	}
	if (!view_source_is_bpf(run))
		print_module(out, run, &cost);
	if (run->bpf.known)
		print_counting(out, run, &cost);
	print_inside(out, run, &cost);
}
