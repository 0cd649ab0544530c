// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table with the fault counts from the module, eBPF, tasks and getrusage(2), with the reasons for
 * each difference. Counts and reasons come from the ledger.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/accounts/ledger.h"
#include "print/text/table.h"
#include "print/text/cells.h"
#include "util/array.h"

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
