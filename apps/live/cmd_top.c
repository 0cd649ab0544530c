// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive top: watches a program as record does, and prints the current cost of the program's
 * faults at intervals. The analysis and the views run in the collector's thread.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "live/live.h"
#include "report/view.h"
#include "run/watch_options.h"
#include "util/argument.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/text.h"
#include "util/time_ns.h"

/*
 * Prints a live view's last interval as lines that fit the terminal. The rows come from
 * live/live.c.
 */

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
	static const char *const headings[NR_GROUP_BY] = { "File",  "VMA",  "Thread",	"Code",
							   "Stack", "Name", "Function", "Line" };
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

#define BY_FILE	  (1U << GROUP_BY_FILE)
#define BY_THREAD (1U << GROUP_BY_THREAD)

struct top {
	struct watch_options watch_options;
	unsigned int interval_ms;
	uint64_t views; /* 0: until the end */
	unsigned int by;
	struct watch *watch;
	struct result result;
	struct live *live;
	uint64_t shown;
	int err;
};

enum key {
	KEY_INTERVAL = 'i',
	KEY_COUNT = 'n',
	KEY_BY = 3000,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Output:", 3 },
	{ "interval", KEY_INTERVAL, "S", 0, "seconds between two screens (default 1)", 3 },
	{ "count", KEY_COUNT, "N", 0, "exit after this many screens", 3 },
	{ "by", KEY_BY, "file|thread", 0, "print only this table (default both)", 3 },
	{ 0 },
};

static error_t top_parse_option(int key, char *text, struct argp_state *state)
{
	static const char *const tables[] = { "file", "thread", NULL };
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->watch_options;
		return 0;
	case KEY_INTERVAL:
		top->interval_ms = 1000 * argument_decimal(state, "interval", text,
							   "a number of seconds", 0.1, 3600);
		return 0;
	case KEY_COUNT:
		top->views = argument_number(state, "count", text, 1, UINT64_MAX);
		return 0;
	case KEY_BY:
		top->by = argument_word(state, "by", text, tables) ? BY_THREAD : BY_FILE;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child top_children[] = { { &watch_argp, 0, NULL, 0 }, { 0 } };

static const struct argp top_argp = {
	.options = argp_options,
	.parser = top_parse_option,
	.children = top_children,
	.args_doc = "[--] COMMAND [ARGUMENT...]\n-p PID\n--cgroup PATH\n--file PATH",
	.doc = "Shows a program's current page fault cost.\vCtrl-C stops pfdrive; "
	       "processes that pfdrive did not start continue. A COMMAND also receives Ctrl-C: "
	       "pfdrive stops when it exits, or at a second Ctrl-C. An ordinary user can watch "
	       "their own processes; the pfstat module and eBPF, which show more about a "
	       "fault, require root.",
};

static void top_parse(struct top *top, int argc, char **argv)
{
	watch_options_init(&top->watch_options);
	argp_parse(&top_argp, argc, argv, ARGP_IN_ORDER, NULL, top);
}

static int top_print(const struct top *top)
{
	const bool terminal = isatty(STDOUT_FILENO);
	struct winsize size = { 0 };

	if (terminal)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return live_print(top->live, stdout, terminal, size.ws_row, size.ws_col);
}

/* Runs in the thread of the collector, which feeds the analysis: it does not change meanwhile. */
static void top_show(void *context)
{
	struct top *top = context;
	struct live_counters counters;

	if (top->err || (top->views && top->shown == top->views))
		return;
	watch_lost(top->watch, &counters.lost_records, &counters.lost_events);
	counters.hooks = watch_hooks(top->watch);
	counters.user_only = top->result.report.bpf.user_only;
	counters.source_note = view_source_note(&top->result.report);
	top->err = live_update(top->live, top->result.analysis, &counters, clock_monotonic_ns());
	if (!top->err)
		top->err =
			live_judge(top->live, top->result.analysis, top->result.report.bpf.known);
	if (!top->err)
		top->err = top_print(top);
	top->shown++;
	if (top->err || top->shown == top->views)
		watch_end(top->watch);
}

static int top_open_watch(struct top *top)
{
	struct instruments_options *instruments = &top->watch_options.instruments;

	top->live = live_new(top->by, clock_monotonic_ns());
	if (!top->live)
		return message(STATUS_FAILED, "out of memory");
	instruments->tick_ms = top->interval_ms;
	instruments->tick_drains = true;
	instruments->tick = top_show;
	instruments->tick_context = top;
	/* The verdict names files, mappings and threads. Code has no names before the end. */
	top->watch_options.groups = REPORT_PLACES & ~(1U << GROUP_BY_CODE);
	return watch_open(&top->watch, &top->watch_options, &top->result);
}

static int top_run(struct top *top)
{
	int status;

	status = top_open_watch(top);
	if (!status)
		status = watch_go(top->watch);
	if (!status) {
		watch_wait(top->watch);
		watch_stop(top->watch);
		if (top->result.damage[0])
			status = message(STATUS_FAILED, "%s", top->result.damage);
	}
	if (!status && top->err)
		status = message_of_stdout(top->err, "the screen");
	return status ? status : watch_status(top->watch);
}

static int cmd_top(int argc, char **argv)
{
	struct top top = { .interval_ms = 1000, .by = BY_FILE | BY_THREAD };
	int status;

	top_parse(&top, argc, argv);
	signals_init();
	result_init(&top.result);
	status = top_run(&top);
	watch_close(top.watch);
	live_free(top.live);
	result_free(&top.result);
	return status;
}

const struct subcommand top_command = {
	.name = "top",
	.title = "pfdrive top",
	.group = COMMAND_MEASURE,
	.summary = "show a program's current fault cost",
	.run = cmd_top,
	.argp = &top_argp,
};
