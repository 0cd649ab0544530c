// SPDX-License-Identifier: GPL-2.0-only
/* Names printed on a terminal cannot control it. */
#include <stdlib.h>
#include <string.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "sample_run.h"
#include "apps/compare/compare_print.h"
#include "user/print/print_report.h"
#include "user/util/message.h"
#include "user/util/text.h"

static void becomes(const char *text, const char *expected)
{
	char *printed;
	size_t bytes;
	FILE *out = open_memstream(&printed, &bytes);

	ck_assert_ptr_nonnull(out);
	utf8_print(out, text);
	fclose(out);
	ck_assert_str_eq(printed, expected);
	free(printed);
}

TEST(test_control_characters_are_replaced)
{
	becomes("", "");
	becomes("/data/é€😀 x", "/data/é€😀 x");
	becomes("\xc2\xa0", "\xc2\xa0");
	becomes("a\033[2J\nb\t\x7f", "a?[2J?b??");
	becomes("\302\2002J \302\237.", "??2J ??.");
	becomes("\2332J \342\202 \302", "?2J ?? ?");
}

/* A message may contain a file name from a recording. */
TEST(test_a_message_is_one_line_without_control_characters)
{
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);
	char line[128] = "";
	int status;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	status = message(STATUS_FAILED, "cannot open %s: %d µs", "a\033c\n\302\233b", 7);
	dup2(kept, STDERR_FILENO);
	close(kept);
	ck_assert_int_eq(status, STATUS_FAILED);
	rewind(file);
	ck_assert_uint_gt(fread(line, 1, sizeof(line) - 1, file), 0);
	ck_assert_str_eq(line, "pfdrive: cannot open a?c???b: 7 µs\n");
	fclose(file);
}

/* The reason for missing eBPF is text from the recording. */
TEST(test_a_table_has_no_control_character)
{
	struct sample_run run;
	char *text;

	sample_open(&run, 150000);
	run.report.bpf.known = false;
	run.report.faults.parts_known = false;
	strcpy(run.report.bpf.missing, "no\033[2J\xc2\x9b.");
	text = sample_print(REPORT_TABLE, &run.report, 1);
	ck_assert_ptr_nonnull(strstr(text, "Parts: n/a (no?[2J??.)\n"));
	ck_assert_ptr_nonnull(strstr(text, "off-CPU times: n/a (no?[2J??.)\n"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	sample_close(&run);
}

/* U+202E: the terminal shows the text after it from right to left. */
TEST(test_bidirectional_control_characters_are_not_printed)
{
	char text[] = "a\u202egnp.exe\u2066b\u2069\u2027\u202f";

	becomes(text, "a???gnp.exe???b???\u2027\u202f");
	utf8_hide_bidi(text);
	ck_assert_str_eq(text, "a?gnp.exe?b?\u2027\u202f");
}

/* The report as a terminal receives it, with the newlines restored. The caller frees it. */
static char *on_terminal(enum report_format format, const struct report *run)
{
	char *text = calloc(1, 1 << 20);
	int master, slave, status;
	size_t length = 0;
	ssize_t got;
	pid_t child;
	FILE *out;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, NULL), 0);
	child = fork();
	if (!child) {
		close(master);
		out = fdopen(slave, "w");
		_exit(!out || print_report(out, format, run, 1) || fclose(out));
	}
	close(slave);
	/* When the last writer closes the terminal, read() fails with EIO. */
	while ((got = read(master, text + length, (1 << 20) - 1 - length)) > 0)
		length += got;
	close(master);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return text;
}

static void check_harmless(const char *text)
{
	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_null(strchr(text, '\x7f'));
	ck_assert_ptr_null(strstr(text, "\302\233"));
	ck_assert_ptr_null(strstr(text, "\u202e"));
}

#define HOSTILE "=a\033[31m\nb\177\302\233\u202e"

TEST(test_no_format_controls_the_terminal)
{
	struct group group = { .name = HOSTILE, .pid = 1, .tid = 1, .faults = 1 };
	struct sample_run run;
	char *text;

	sample_open(&run, 150000);
	run.report.losses.damage = "t" HOSTILE " was cut";
	run.report.groups.wanted = true;
	run.report.groups.by = GROUP_BY_THREAD;
	run.report.groups.rows = &group;
	run.report.groups.nr = 1;
	text = sample_print(REPORT_TABLE, &run.report, 1);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "READ: t=a?[31m?b?????? was cut\n"));
	free(text);
	text = on_terminal(REPORT_CSV, &run.report);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "thread,\"'=a?[31m\r\nb??????\""));
	free(text);
	text = on_terminal(REPORT_JSON, &run.report);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "\"=a\\u001B[31m\\nb\\u007f\\u009b\\u202e\""));
	free(text);
	sample_close(&run);
}

/* A file contains names in full. Only formulas are quoted. */
TEST(test_a_csv_file_has_full_names_but_no_formulas)
{
	struct group group = { .pid = 1, .tid = 1, .faults = 1 };
	static const char *const names[][2] = {
		{ "/a\033b", ",/a\033b," }, { "=1+1", ",'=1+1," },
		{ "@a,b", ",\"'@a,b\"," },  { "-bash (7)", ",'-bash (7)," },
		{ "+x", ",'+x," },	    { "a=b", ",a=b," },
		{ "'=x", ",''=x," },	    { "'x", ",'x," },
		{ "''+", ",'''+," },
	};
	struct sample_run run;
	char *text;
	size_t i;

	sample_open(&run, 150000);
	run.report.groups.wanted = true;
	run.report.groups.by = GROUP_BY_THREAD;
	run.report.groups.rows = &group;
	run.report.groups.nr = 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		group.name = names[i][0];
		text = sample_print(REPORT_CSV, &run.report, 1);
		ck_assert_msg(strstr(text, names[i][1]), "%s", text);
		free(text);
	}
	sample_close(&run);
}

/* Both sides in a comparison may be files with any name. */
TEST(test_a_comparison_has_no_control_character)
{
	struct comparison comparison = { 0 };
	const struct compare_run a = { .file = HOSTILE, .damage = HOSTILE };
	const struct compare_run b = { .file = "b.pfs" };
	struct compare_report report = {
		.a = { .runs = &a, .nr = 1 },
		.b = { .runs = &b, .nr = 1 },
		.comparison = &comparison,
	};
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(compare_print(out, REPORT_TABLE, &report), 0);
	fclose(out);
	check_harmless(text);
	ck_assert_ptr_nonnull(strstr(text, "A: =a?[31m?b??????\nA: =a?[31m?b??????, 0 faults\n"));
	free(text);
}
