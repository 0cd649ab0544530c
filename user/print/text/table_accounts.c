// SPDX-License-Identifier: GPL-2.0-only
/* Accounts: fault counts from several sources, and pfstat's own cost. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/accounts/ledger.h"
#include "print/text/cells.h"
#include "print/text/table.h"
#include "util/array.h"

/*
 * A table with the fault counts from the module, eBPF, tasks and getrusage(2), with the reasons for
 * each difference. Counts and reasons come from the ledger.
 */

#define WHAT_WIDTH  35 /* the page's width minus the other text column and two amounts */
#define WHY_WIDTH   40
#define AMOUNT_SIZE 24

static int table_ledger_counts(FILE *out, const struct ledger *ledger)
{
	static const char *const headings[] = { "<Ledger", ">Count", "<Counted by" };
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < ledger->nr_counts; i++) {
		grid_row(&grid);
		grid_cell(&grid, "%s", ledger->counts[i].name);
		cell_count(&grid, ledger->counts[i].value);
		grid_cell(&grid, "%s", ledger->counts[i].source);
	}
	return grid_close(&grid, out);
}

/*
 * Prints as many rows as the explanation needs. Each row also has the next part of the difference's
 * name.
 */
static void explained_rows(struct grid *grid, const char **what, const char *amount,
			   const char *share, const char *why)
{
	do {
		grid_row(grid);
		*what = grid_text(grid, WHAT_WIDTH, *what);
		grid_cell(grid, "%s", amount);
		grid_cell(grid, "%s", share);
		why = grid_text(grid, WHY_WIDTH, why);
		amount = "";
		share = "";
	} while (*why);
}

static const char *amount_text(char *text, int64_t amount)
{
	snprintf(text, AMOUNT_SIZE, amount ? "%+" PRId64 : "%" PRId64, amount);
	return text;
}

static void known_rows(struct grid *grid, const char **what,
		       const struct ledger_difference *difference)
{
	char total[AMOUNT_SIZE], share[AMOUNT_SIZE];
	const struct ledger_reason *reason;
	size_t i;

	amount_text(total, difference->amount);
	for (i = 0; i < difference->nr_reasons; i++) {
		reason = &difference->reasons[i];
		explained_rows(grid, what, i ? "" : total, amount_text(share, reason->amount),
			       reason->name);
	}
	if (difference->unexplained)
		explained_rows(grid, what, i ? "" : total,
			       amount_text(share, difference->unexplained), "UNEXPLAINED");
	else if (!i)
		explained_rows(grid, what, total, "", "they agree");
}

static void difference_rows(struct grid *grid, const struct ledger_difference *difference)
{
	const bool sum = strchr(difference->right, '+');
	char text[256];
	const char *what = text;

	snprintf(text, sizeof(text), "%s - %s%s%s", difference->left, sum ? "(" : "",
		 difference->right, sum ? ")" : "");
	if (difference->known)
		known_rows(grid, &what, difference);
	else
		explained_rows(grid, &what, "n/a", "", "");
	while (*what)
		explained_rows(grid, &what, "", "", "");
}

static int table_ledger_differences(FILE *out, const struct ledger *ledger)
{
	static const char *const headings[] = { "<Difference", ">Amount", ">Part", "<Reason" };
	struct grid grid;
	size_t i;

	grid_open(&grid, headings, ARRAY_SIZE(headings));
	for (i = 0; i < ledger->nr_differences; i++)
		difference_rows(&grid, &ledger->differences[i]);
	return grid_close(&grid, out);
}

int table_ledger(FILE *out, const struct ledger *ledger)
{
	int err = table_ledger_counts(out, ledger);

	if (err || !ledger->nr_differences)
		return err;
	fputc('\n', out);
	return table_ledger_differences(out, ledger);
}

/*
 * Lines about pfstat's own cost. The costs come from the calibration before the run, and view.c
 * multiplies them by the counts.
 */

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
