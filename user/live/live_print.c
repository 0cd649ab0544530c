// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a live view's last interval as lines that fit the terminal. The rows come from
 * live/live.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"
#include "util/text.h"

#define ANY	 0xffffffffU
#define NR_PLAIN 5 /* rows in a table without a size limit */

/* The output and the space left on it. */
struct page {
	FILE *out;
	bool terminal;
	unsigned int rows, columns;
	int err; /* -ENOMEM: a line was omitted */
};

static void put_text(struct page *page, const char *text)
{
	unsigned int column;
	size_t length;

	for (column = 0; *text && column < page->columns; column++) {
		length = utf8_printable(text, strlen(text));
		if (length)
			fwrite(text, 1, length, page->out);
		else
			fputc('?', page->out);
		text += length ? length : 1;
	}
}

static void live_line(struct page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void live_line(struct page *page, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	if (!page->rows)
		return;
	if (page->rows != ANY)
		page->rows--;
	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		page->err = -ENOMEM;
		return;
	}
	put_text(page, text);
	fputs(page->terminal ? "\033[K\n" : "\n", page->out);
	free(text);
}

static double per_second(const struct live *live, double amount)
{
	return live->interval_ns ? amount * 1e9 / live->interval_ns : 0;
}

static const char *lost_text(char *text, size_t size, uint64_t lost)
{
	if (lost == COUNT_NA)
		return "n/a";
	snprintf(text, size, "%" PRIu64, lost);
	return text;
}

static void head(struct page *page, const struct live *live)
{
	char records[24], events[24];
	uint64_t faults = 0, total_ns = 0;
	unsigned int class;

	for (class = 0; class < NR_FAULT_CLASSES; class++) {
		faults += live->classes[class].faults;
		total_ns += live->classes[class].total_ns;
	}
	live_line(page,
		  "%.1f s  %.1f faults/s  %.1f major/s  %.1f ms/s  lost: %s records, %s events",
		  (live->now_ns - live->start_ns) / 1e9, per_second(live, faults),
		  per_second(live, live->new_major), per_second(live, total_ns / 1e6),
		  lost_text(records, sizeof(records), live->counters.lost_records),
		  lost_text(events, sizeof(events), live->counters.lost_events));
	if (live->counters.source_note)
		live_line(page, "%s", live->counters.source_note);
}

static void live_print_heading(struct page *page, const char *what)
{
	if (page->terminal)
		live_line(page, "%s", "");
	/* printf counts the width in bytes, and µ has two. */
	live_line(page, "%10s  %12s       Mean µs  %s", "ms/s", "Faults/s", what);
}

static void row(struct page *page, const struct live *live, const char *name, uint64_t faults,
		uint64_t total_ns)
{
	live_line(page, "%10.1f  %12.1f  %12.2f  %s", per_second(live, total_ns / 1e6),
		  per_second(live, faults), total_ns / 1e3 / faults, name);
}

/* On a terminal the verdict takes at most a third of the rows. */
static void live_verdict_lines(struct page *page, const char *verdict)
{
	unsigned int left = page->rows == ANY ? ANY : page->rows / 3;
	char *text = NULL, *line, *next;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);

	if (memory) {
		wrap_text(memory, verdict, page->columns);
		if (fclose(memory))
			page->err = -ENOMEM;
	} else {
		page->err = -ENOMEM;
	}
	for (line = text; line && *line && left--; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		live_line(page, "%s", line);
	}
	free(text);
}

static void classes(struct page *page, const struct live *live)
{
	unsigned int class;

	live_print_heading(page, "Class");
	for (class = 0; class < NR_FAULT_CLASSES; class++)
		if (live->classes[class].faults)
			row(page, live, fault_class_name(class), live->classes[class].faults,
			    live->classes[class].total_ns);
}

static void table(struct page *page, const struct live *live, enum group_by by, size_t most)
{
	static const char *const headings[NR_GROUP_BY] = { "File", "VMA",   "Thread",
							   "Code", "Stack", "Name" };
	const struct live_table *table = &live->tables[by];
	size_t i;

	live_print_heading(page, headings[by]);
	for (i = 0; i < table->nr_rows && i < most; i++)
		row(page, live, table->rows[i].name, table->rows[i].faults,
		    table->rows[i].total_ns);
}

/* The tables share the remaining lines. A table without a line for a row is omitted. */
static void tables(struct page *page, const struct live *live)
{
	/* heading, and an empty line on a terminal */
	const unsigned int around = page->terminal ? 2 : 1;
	unsigned int left = __builtin_popcount(live->by), share;
	enum group_by by;

	for (by = 0; by < NR_GROUP_BY; by++) {
		if (!(live->by & 1 << by))
			continue;
		share = page->rows == ANY ? NR_PLAIN + around : page->rows / left--;
		if (share > around)
			table(page, live, by, share - around);
	}
}

int live_print(const struct live *live, FILE *out, bool terminal, unsigned int rows,
	       unsigned int columns)
{
	struct page page = {
		.out = out,
		.terminal = terminal,
		.rows = rows ? rows - 1 : ANY, /* one line for the cursor or the empty line */
		.columns = columns ? columns : ANY,
	};

	errno = 0;
	if (terminal)
		fputs("\033[H", out);
	head(&page, live);
	if (live->verdict)
		live_verdict_lines(&page, live->verdict);
	classes(&page, live);
	tables(&page, live);
	fputs(terminal ? "\033[J" : "\n", out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return page.err;
}
