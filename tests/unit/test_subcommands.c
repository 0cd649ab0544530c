// SPDX-License-Identifier: GPL-2.0-only
/* How the first words of a command line choose a command, and what is said of unknown ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"
#include "user/cmd/cmd.h"
#include "user/util/message.h"

static char out[65536], err[65536];

static void read_text(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* Its exit status; what it prints is in out and err. */
static int run(char **arguments)
{
	FILE *out_file = tmpfile(), *err_file = tmpfile();
	int argc = 0, status;
	pid_t child;

	while (arguments[argc])
		argc++;
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fileno(out_file), STDOUT_FILENO);
		dup2(fileno(err_file), STDERR_FILENO);
		exit(command_line(argc, arguments));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	read_text(out_file, out, sizeof(out));
	read_text(err_file, err, sizeof(err));
	return WEXITSTATUS(status);
}

#define RUN(...) run((char *[]){ "pfdrive", ##__VA_ARGS__, NULL })

START_TEST(test_an_unknown_word_is_refused_with_the_nearest_command)
{
	static const struct {
		char *word;
		const char *nearest;
	} cases[] = {
		{ "reprto", "report" },
		{ "recodr", "record" },
		{ "bensh", "bench" },
		{ "map", "maps" },
		{ "replayy", "replay" },
		{ "tpo", "top" },
		{ "rum", "run" },
		{ "compara", "compare" },
		{ "io", "study io" },
		{ "rss", "study rss" },
		/* The former names. */
		{ "drive", "run" },
		{ "via", "study io" },
		{ "touch", "study rss" },
		{ "show-maps", "maps" },
	};
	char expected[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(RUN(cases[i].word), STATUS_USAGE);
		snprintf(expected, sizeof(expected),
			 "pfdrive: unknown command '%s'; did you mean "
			 "'%s'? No file has that name either\n",
			 cases[i].word, cases[i].nearest);
		ck_assert_str_eq(err, expected);
		ck_assert_str_eq(out, "");
	}
}
END_TEST

START_TEST(test_a_word_that_resembles_no_command_is_refused)
{
	static const char long_word[] = "a-word-that-is-longer-than-any-command-could-ever-be";

	ck_assert_int_eq(RUN("data.bin", "-n", "1"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: 'data.bin' is neither a command nor a file; see pfdrive "
			      "--help\n");
	ck_assert_int_eq(RUN((char *)long_word), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "neither a command nor a file"));
	ck_assert_int_eq(RUN(""), STATUS_USAGE);
}
END_TEST

START_TEST(test_a_pattern_in_place_of_a_command_is_refused_with_its_option)
{
	ck_assert_int_eq(RUN("stride:256K", "file.bin"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: 'stride:256K' is a pattern; use --pattern stride:256K\n");
	ck_assert_int_eq(RUN("sequential"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "--pattern sequential"));
}
END_TEST

START_TEST(test_sizes_are_refused_with_limits_that_can_be_typed)
{
	ck_assert_int_eq(RUN("--ring-size", "1", "./x"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: --ring-size: '1' is not a size from 4K to 1G\n");
	ck_assert_int_eq(RUN("study", "pressure", "--memory-limit", "1M", "./x"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive study pressure: --memory-limit: '1M' is not a size from 8M "
			      "to 65536G\n");
}
END_TEST

START_TEST(test_an_unknown_study_is_refused_with_the_choices)
{
	ck_assert_int_eq(RUN("study"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: no study was given; choose from io, rss, pressure\n");
	ck_assert_int_eq(RUN("study", "rest"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: unknown study 'rest'; choose from io, rss, pressure\n");
}
END_TEST

/* Refused by run, and not as a word. */
START_TEST(test_a_path_and_an_option_are_those_of_run)
{
	ck_assert_int_eq(RUN("./missing"), STATUS_FAILED);
	ck_assert_str_eq(err, "pfdrive: there is no file ./missing: make one, or name another\n");
	ck_assert_int_eq(RUN("run", "missing"), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(err, "there is no file missing"));
	ck_assert_int_eq(RUN("-n", "1"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "no FILE was given"));
	ck_assert_int_eq(RUN("Documentation"), STATUS_FAILED); /* the tests run at the top */
	ck_assert_str_eq(err, "pfdrive: Documentation is a folder: name a file\n");
}
END_TEST

START_TEST(test_a_file_that_is_named_like_a_command_needs_a_folder)
{
	char folder[] = "/tmp/pfstat-commands-XXXXXX";
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	file = fopen("report", "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(RUN("report"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "pfdrive report: no RECORDING was given"));
	ck_assert_int_eq(RUN("./report"), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(err, "./report is empty"));
	ck_assert_int_eq(RUN("run", "report"), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(err, "report is empty"));
	ck_assert_int_eq(remove("report"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(test_the_list_has_every_command_in_one_line)
{
	char line[256];
	size_t i;

	ck_assert_int_eq(RUN("--help"), STATUS_OK);
	for (i = 0; i < nr_subcommands; i++) {
		snprintf(line, sizeof(line), "\n  %-15s %s\n", subcommands[i].name,
			 subcommands[i].summary);
		if (subcommands[i].group == COMMAND_HIDDEN)
			ck_assert_ptr_null(strstr(out, line));
		else
			ck_assert_ptr_nonnull(strstr(out, line));
		ck_assert_uint_le(strlen(line), 80 + strlen("\n\n"));
	}
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(test_no_command_at_all_is_a_mistake_that_gets_the_list)
{
	static char listed[sizeof(out)];

	ck_assert_int_eq(RUN("--help"), STATUS_OK);
	strcpy(listed, out);
	ck_assert_int_eq(RUN(), STATUS_USAGE);
	ck_assert_str_eq(err, listed);
	ck_assert_str_eq(out, "");
}
END_TEST

/* Whatever man(1) has, it is looked for in an empty folder. */
START_TEST(test_help_prints_the_options_of_a_command_without_a_manual)
{
	setenv("MANPATH", "/nowhere", 1);
	ck_assert_int_eq(RUN("help", "study", "io"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive study io "));
	ck_assert_int_eq(RUN("help", "run"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive run "));
	ck_assert_int_eq(RUN("help", "reprto"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "did you mean 'report'?"));
	ck_assert_int_eq(RUN("help"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive COMMAND"));
	ck_assert_int_eq(RUN("help", "study"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive COMMAND"));
}
END_TEST

START_TEST(test_each_command_has_a_manual_page)
{
	char path[128], *space;
	size_t i;

	for (i = 0; i < nr_subcommands; i++) {
		if (!subcommands[i].argp)
			continue;
		/* The tests run at the top. */
		snprintf(path, sizeof(path), "Documentation/man/pfdrive-%s.1.rst",
			 subcommands[i].name);
		while ((space = strchr(path, ' ')))
			*space = '-';
		ck_assert_msg(!access(path, R_OK), "there is no %s", path);
	}
}
END_TEST

START_TEST(test_helpers_refuse_foreign_arguments)
{
	ck_assert_int_eq(RUN("helper"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "nothing"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "completion", "fish"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "cgroup-reaper", "/sys/fs/cgroup"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "unpin", "x"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "competitor"), STATUS_USAGE);
	ck_assert_int_eq(RUN("loop"), STATUS_USAGE);
}
END_TEST

START_TEST(test_an_unknown_item_of_with_is_refused_with_the_choices)
{
	ck_assert_int_eq(RUN("--with", "rusage,hwc", "x"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: --with: 'hwc' is not one of hw, cachegrind, rusage, "
			      "syscalls, maps\n");
	ck_assert_int_eq(RUN("run", "--with", "maps,", "x"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "--with: '' is not one of"));
	ck_assert_int_eq(RUN("record", "--with", "hw", "--", "true"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive record: --with: 'hw' is not one of rusage, syscalls\n");
	ck_assert_int_eq(RUN("--with", "maps,rusage", "--with", "hw", "./missing"), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(err, "there is no file"));
}
END_TEST

START_TEST(test_each_command_prints_its_own_help)
{
	char words[64], usage[128], *second;
	size_t i;

	for (i = 0; i < nr_subcommands; i++) {
		if (!subcommands[i].argp)
			continue;
		strcpy(words, subcommands[i].name);
		second = strchr(words, ' ');
		if (second)
			*second++ = '\0';
		ck_assert_int_eq(second ? RUN(words, second, "--help") : RUN(words, "--help"),
				 STATUS_OK);
		snprintf(usage, sizeof(usage), "Usage: pfdrive %s ", subcommands[i].name);
		ck_assert_ptr_nonnull(strstr(out, usage));
	}
}
END_TEST

RUN_TESTS("subcommands", test_an_unknown_word_is_refused_with_the_nearest_command,
	  test_a_word_that_resembles_no_command_is_refused,
	  test_a_pattern_in_place_of_a_command_is_refused_with_its_option,
	  test_sizes_are_refused_with_limits_that_can_be_typed,
	  test_an_unknown_study_is_refused_with_the_choices,
	  test_a_path_and_an_option_are_those_of_run,
	  test_a_file_that_is_named_like_a_command_needs_a_folder,
	  test_the_list_has_every_command_in_one_line,
	  test_no_command_at_all_is_a_mistake_that_gets_the_list,
	  test_help_prints_the_options_of_a_command_without_a_manual,
	  test_each_command_has_a_manual_page, test_helpers_refuse_foreign_arguments,
	  test_an_unknown_item_of_with_is_refused_with_the_choices,
	  test_each_command_prints_its_own_help)
