// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines about pfstat's own cost. The costs come from the calibration before the run; view.c
 * multiplies them by the counts.
 */
#include <math.h>

#include "print/text/table.h"

static void print_total(FILE *out, double total_ns, double share)
{
	fprintf(out, ", %.3g ms in total", total_ns / 1e6);
	if (!isnan(share))
		fprintf(out, ", %.2f%% of the run", 100 * share);
}

static void print_again(FILE *out, const struct own_cost *cost)
{
	if (isnan(cost->again_ns))
		fputs("  an upper bound: each retry by the kernel is counted as a whole fault\n",
		      out);
	else
		fprintf(out, "  %.0f ns for each retry of a fault by the kernel\n", cost->again_ns);
}

/* eBPF sends no event for a fault if its calls are recorded. */
static void print_bpf(FILE *out, const struct report *run, const struct own_cost *cost)
{
	const bool by_module = run->bpf.module_faults;
	const char *counter = by_module ? "counting all faults" : "eBPF";

	if (isnan(cost->hooked_ns) || isnan(cost->other_ns) || isnan(cost->bpf_total_ns)) {
		fprintf(out, "Own cost of %s: n/a\n", counter);
		return;
	}
	fprintf(out, "Own cost of %s: %.0f ns per fault", counter, cost->hooked_ns);
	print_total(out, cost->bpf_total_ns, cost->bpf_share);
	fputs(by_module || view_source_is_bpf(run) ? "\n" : "; not in the times of calls\n", out);
	if (run->cost.bpf_again)
		print_again(out, cost);
	fprintf(out, "  %.0f ns for each fault that %s\n", cost->other_ns,
		view_source_is_bpf(run) ? "calls no file operation" : "the module does not record");
}

/* The programs that record calls are among those of eBPF. */
static void print_inside(FILE *out, const struct report *run, const struct own_cost *cost)
{
	const char *of = view_source_is_bpf(run) ? "eBPF's" : "the module's";

	if (!isnan(cost->inside_ns))
		fprintf(out, "  %.3g ns of the time of each call are %s own%s\n", cost->inside_ns,
			of, run->cost.subtract ? ", and subtracted above" : "");
}

static void print_counter(FILE *out, const struct report_bpf *bpf)
{
	if (bpf->module_faults)
		fputs("  the module counts them, not eBPF; not in the times of calls\n", out);
	else if (bpf->module_faults_missing[0])
		fprintf(out, "  eBPF counts all faults, not the module: %s\n",
			bpf->module_faults_missing);
}

static void print_module(FILE *out, const struct report *run, const struct own_cost *cost)
{
	if (isnan(cost->call_ns)) {
		fprintf(out, "Own cost of the module: n/a%s\n",
			run->cost.subtract ? "; nothing is subtracted" : "");
		return;
	}
	fprintf(out, "Own cost of the module: %.3g ns per call", cost->call_ns);
	if (!isnan(cost->total_ns))
		print_total(out, cost->total_ns, cost->share);
	fputc('\n', out);
	print_inside(out, run, cost);
}

/* The clock is read at the same point of both samples of a fault: one of them is inside. */
static void print_perf(FILE *out, const struct own_cost *cost)
{
	if (isnan(cost->other_ns)) {
		fputs("Own cost of perf: n/a\n", out);
		return;
	}
	fprintf(out, "Own cost of perf: %.0f ns per fault", cost->other_ns);
	print_total(out, cost->bpf_total_ns, cost->bpf_share);
	fputs("; about half is in the times of faults\n", out);
}

void table_cost(FILE *out, const struct report *run)
{
	const struct own_cost cost = view_own_cost(&run->cost, &run->time);

	if (view_source_is_perf(run)) {
		print_perf(out, &cost);
		return;
	}
	if (!view_source_is_bpf(run))
		print_module(out, run, &cost);
	if (run->bpf.known)
		print_bpf(out, run, &cost);
	if (view_source_is_bpf(run))
		print_inside(out, run, &cost);
	else if (run->bpf.known)
		print_counter(out, &run->bpf);
}
