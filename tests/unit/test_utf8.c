// SPDX-License-Identifier: GPL-2.0-only
/* Names on their way to a terminal, which is not to be steered by them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"
#include "sample_run.h"
#include "user/complain.h"
#include "user/report/utf8.h"

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

START_TEST(test_what_a_terminal_obeys_is_not_printed)
{
	becomes("", "");
	becomes("/data/é€😀 x", "/data/é€😀 x");
	becomes("\xc2\xa0", "\xc2\xa0");
	becomes("a\033[2J\nb\t\x7f", "a?[2J?b??");
	becomes("\302\2002J \302\237.", "??2J ??.");
	becomes("\2332J \342\202 \302", "?2J ?? ?");
}
END_TEST

/* What is said may name a file of a recording. */
START_TEST(test_a_complaint_is_one_harmless_line)
{
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);
	char line[128] = "";
	int status;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	status = complain(STATUS_FAILED, "cannot open %s: %d µs", "a\033c\n\302\233b", 7);
	dup2(kept, STDERR_FILENO);
	close(kept);
	ck_assert_int_eq(status, STATUS_FAILED);
	rewind(file);
	ck_assert_uint_gt(fread(line, 1, sizeof(line) - 1, file), 0);
	ck_assert_str_eq(line, "pfdrive: cannot open a?c???b: 7 µs\n");
	fclose(file);
}
END_TEST

/* Why there was no eBPF is the recording's own text. */
START_TEST(test_a_table_has_no_control_character)
{
	struct sample_run run;
	char *text;

	sample_open(&run, 150000);
	run.report.have_bpf = false;
	run.report.parts_known = false;
	strcpy(run.report.bpf_missing, "no\033[2J\xc2\x9b.");
	text = sample_print(REPORT_TABLE, &run.report, 1);
	ck_assert_ptr_nonnull(strstr(text, "Parts: n/a (no?[2J??.)\n"));
	ck_assert_ptr_nonnull(strstr(text, "off-CPU times: n/a (no?[2J??.)\n"));
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	sample_close(&run);
}
END_TEST

RUN_TESTS("utf8", test_what_a_terminal_obeys_is_not_printed,
	  test_a_complaint_is_one_harmless_line, test_a_table_has_no_control_character)
