// SPDX-License-Identifier: GPL-2.0-only
/* Prints which pages the faults copied, added to shared memory, or mapped as huge pages. */
#include <inttypes.h>

#include "print/text/table.h"
#include "util/array.h"

/* One line for a list. The heading comes with the first item. */
struct contents_line {
	FILE *out;
	const char *separator; /* before the next item, first the heading */
	bool any;
};

static void contents_item(struct contents_line *line, const struct evidence_sum *sum,
			  const char *what)
{
	if (!sum->count)
		return;
	fprintf(line->out, "%s%" PRIu64 " %s (%.2f ms)", line->separator, sum->count, what,
		sum->total_ns / 1e6);
	line->separator = "; ";
	line->any = true;
}

static void contents_line_end(const struct contents_line *line)
{
	if (line->any)
		fputc('\n', line->out);
}

static void contents_copies(FILE *out, const struct contents_figures *contents)
{
	struct contents_line line = { .out = out, .separator = "Copied when written: " };

	contents_item(&line, &contents->by[PFSTAT_CONTENT_ZERO], "of the zero page");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_KSM], "of pages merged by KSM");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_FILE], "of file pages");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_FORK], "of pages shared by a fork");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_UNKNOWN], "of unknown pages");
	contents_line_end(&line);
	line = (struct contents_line){ .out = out, .separator = "Written without a copy: " };
	contents_item(&line, &contents->by[PFSTAT_CONTENT_REUSED],
		      "that no other process has any more");
	contents_line_end(&line);
	if (!contents->after_fork.count)
		return;
	fprintf(out,
		"After a fork in this run: %" PRIu64 " of the pages shared by a fork; %" PRIu64
		" after forks by process %" PRIu32 "\n",
		contents->after_fork.count, contents->fork_pid_count, contents->fork_pid);
}

static void contents_huge(FILE *out, const struct report *run)
{
	struct contents_line line = { .out = out, .separator = "Huge pages: " };
	const struct contents_huge *huge = run->contents.huge;
	char what[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(run->contents.huge) && huge[i].order; i++) {
		const uint64_t kib = (run->environment.page_bytes << huge[i].order) / 1024;

		snprintf(what, sizeof(what), "of %" PRIu64 " KiB, anonymous", kib);
		contents_item(&line, &huge[i].anon, what);
		snprintf(what, sizeof(what), "of %" PRIu64 " KiB, hugetlbfs", kib);
		contents_item(&line, &huge[i].hugetlb, what);
	}
	contents_line_end(&line);
}

void table_contents(FILE *out, const struct report *run)
{
	const struct contents_figures *contents = &run->contents;
	struct contents_line line = { .out = out, .separator = "Shared memory pages: " };

	contents_copies(out, contents);
	contents_item(&line, &contents->by[PFSTAT_CONTENT_NEW], "new");
	contents_item(&line, &contents->by[PFSTAT_CONTENT_PRESENT], "there before");
	contents_line_end(&line);
	contents_huge(out, run);
	if (contents->dax_small)
		fprintf(out, "DAX: %" PRIu64 " faults mapped a single page\n", contents->dax_small);
}
