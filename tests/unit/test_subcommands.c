// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first words on a command line select a command. Unknown words are refused with a suggestion.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pfbench.h"
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

/* Runs a pfbench command in this process, because this program's folder has no pfbench. */
static int run_line(int argc, char **argv)
{
	const int words = argc > 2 && !strcmp(argv[1], "study") ? 2 : 1;
	const struct subcommand *const *command;
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", argc > 1 ? argv[1] : "", words == 2 ? " " : "",
		 words == 2 ? argv[2] : "");
	for (command = bench_commands; *command; command++) {
		if (strcmp(name, (*command)->name))
			continue;
		argv[words] = (*command)->title;
		return (*command)->run(argc - words, argv + words);
	}
	return subcommands_run(argc, argv);
}

/* Returns the exit status. The output goes to out and err. */
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
		exit(run_line(argc, arguments));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	read_text(out_file, out, sizeof(out));
	read_text(err_file, err, sizeof(err));
	return WEXITSTATUS(status);
}

#define RUN(...) run((char *[]){ "pfdrive", ##__VA_ARGS__, NULL })

TEST(test_an_unknown_word_is_refused_with_the_nearest_command)
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
		/* former names */
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

TEST(test_a_word_that_resembles_no_command_is_refused)
{
	static const char long_word[] = "a-word-that-is-longer-than-any-command-could-ever-be";

	ck_assert_int_eq(RUN("data.bin", "-n", "1"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: 'data.bin' is neither a command nor a file; see pfdrive "
			      "--help\n");
	ck_assert_int_eq(RUN((char *)long_word), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "neither a command nor a file"));
	ck_assert_int_eq(RUN(""), STATUS_USAGE);
}

TEST(test_a_pattern_in_place_of_a_command_is_refused_with_its_option)
{
	ck_assert_int_eq(RUN("stride:256K", "file.bin"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: 'stride:256K' is a pattern; use --pattern stride:256K\n");
	ck_assert_int_eq(RUN("sequential"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "--pattern sequential"));
}

/* Common mistakes. Each is refused before the measurement begins. */
TEST(test_a_wrong_argument_is_refused_with_one_sentence)
{
#define ARGUMENTS(...) { "pfdrive", ##__VA_ARGS__, NULL }
	static struct {
		char *arguments[10];
		const char *sentence;
	} cases[] = {
		{ ARGUMENTS("--pattern", "stride", "x"),
		  "--pattern: invalid pattern 'stride'; choose from random, sequential, "
		  "stride:SIZE, locality[:random|:sequential], with a SIZE such as 256K" },
		{ ARGUMENTS("--pattern", "stride:1T", "x"),
		  "--pattern: invalid pattern 'stride:1T'; choose from random, sequential, "
		  "stride:SIZE, locality[:random|:sequential], with a SIZE such as 256K" },
		{ ARGUMENTS("--pattern", "rnadom", "x"),
		  "--pattern: unknown pattern 'rnadom'; choose from random, sequential, "
		  "stride:SIZE, locality[:random|:sequential]" },
		{ ARGUMENTS("--pattern", "random", "--pattern", "locality", "x"),
		  "--pattern was given twice, as 'random' and 'locality'; give one" },
		{ ARGUMENTS("-n", "1.5M", "x"),
		  "--accesses: '1.5M' is not a whole number of at least 1" },
		{ ARGUMENTS("-n", "-5", "x"),
		  "--accesses: '-5' is not a whole number of at least 1" },
		{ ARGUMENTS("--ring-size", "1", "x"),
		  "--ring-size: '1' is not a size from 4K to 1G; use the suffixes K, M and G" },
		{ ARGUMENTS("--scratch", "10T"),
		  "--scratch: '10T' is not a size from 1 to 65536G; use the suffixes K, M and G" },
		{ ARGUMENTS("--map", "anon"), "--map anon requires --size" },
		{ ARGUMENTS("--map", "anon", "--size", "1M", "x"),
		  "--map anon has no file; leave out x" },
		{ ARGUMENTS("--size", "1M", "x"),
		  "--size requires --map anon; leave it out for a file" },
		{ ARGUMENTS("--scratch", "1M", "x"), "give only one of FILE (x) and --scratch" },
		{ ARGUMENTS("--scratch-dir", "/tmp", "x"), "--scratch-dir requires --scratch" },
		{ ARGUMENTS("--cache", "hot", "x"), "--cache: 'hot' is not one of cold, warm" },
		{ ARGUMENTS("--write", "10%", "x"),
		  "this would overwrite x; use --allow-write, --scratch SIZE or --map private" },
		{ ARGUMENTS("./x", "./y"), "unexpected argument './y'; give one FILE" },
		{ ARGUMENTS("record", "--duration", "-1", "--", "ls"),
		  "--duration: '-1' is not a number of seconds from 0.001 to 31536000" },
		{ ARGUMENTS("record", "-p", "-5"),
		  "--pid: '-5' is not a whole number from 1 to 4194304" },
		{ ARGUMENTS("record", "-p", "1", "--", "ls"),
		  "give only one of COMMAND, --pid and --cgroup" },
		{ ARGUMENTS("record"),
		  "nothing to watch was given; give a COMMAND, --pid, --cgroup or --file" },
		{ ARGUMENTS("report", "--by", "nothing", "x"),
		  "--by: 'nothing' is not one of file, vma, thread, code, stack, comm, function, line, class" },
		{ ARGUMENTS("report", "a.pfs", "b.pfs"),
		  "unexpected argument 'b.pfs'; give one RECORDING" },
		{ ARGUMENTS("compare", "a.pfs"),
		  "two recordings are required; usage: pfdrive compare A.pfs B.pfs" },
		{ ARGUMENTS("replay", "--read-ahead", "-4K", "a.pfs"),
		  "--read-ahead: '-4K' is not a multiple of 4K up to 1G" },
		{ ARGUMENTS("study", "pressure", "--memory-limit", "1M", "x"),
		  "--memory-limit: '1M' is not a size from 8M to 65536G; use the suffixes K, M "
		  "and G" },
		{ ARGUMENTS("study", "pressure", "--unsafe", "--memory-limit", "64M", "x"),
		  "give only one of --unsafe and --memory-limit" },
		{ ARGUMENTS("study", "io", "raed:512"),
		  "unknown method 'raed:512'; choose from mmap, read:SIZE, write:SIZE" },
		{ ARGUMENTS("study", "rss"),
		  "no FILE was given; usage: pfdrive study rss FILE [OFFSET...]" },
		{ ARGUMENTS("study", "rss", "x", "-1"),
		  "'-1' is not an offset; an offset is at least 0" },
		{ ARGUMENTS("study", "rss", "x", "ten"),
		  "'ten' is not an offset; give a number of bytes, with or without K, M or G" },
		{ ARGUMENTS("bench", "nosuch"),
		  "unknown operation 'nosuch'; see pfdrive bench --list" },
		{ ARGUMENTS("--map", "public", "x"),
		  "--map: 'public' is not shared, private or anon, with or without +populate" },
		{ ARGUMENTS("--map", "private+populated", "x"),
		  "--map: 'private+populated' is not shared, private or anon, with or without "
		  "+populate" },
		{ ARGUMENTS("--write", "2", "x"),
		  "--write: '2' is not a share from 0 to 1, nor from 0% to 100%" },
		{ ARGUMENTS("--write", "lots", "x"),
		  "--write: 'lots' is not a share from 0 to 1, nor from 0% to 100%" },
		{ ARGUMENTS("--fill", "fsync", "x"), "--fill: 'fsync' is not msync" },
		{ ARGUMENTS("--map", "private", "--pattern", "locality", "--write", "1", "x"),
		  "--write does not apply to the pattern locality, which stores in every eighth "
		  "access" },
		{ ARGUMENTS("--pattern", "locality", "x"),
		  "this would overwrite x; use --allow-write, --scratch SIZE or --map private" },
		{ ARGUMENTS("--fill", "msync", "x"),
		  "this would overwrite x; use --allow-write, --scratch SIZE or --map private" },
		{ ARGUMENTS("--map", "shared+populate", "--write", "1%", "x"),
		  "this would overwrite x; use --allow-write, --scratch SIZE or --map private" },
		{ ARGUMENTS("--scratch", "0"),
		  "--scratch: '0' is not a size from 1 to 65536G; use the suffixes K, M and G" },
		{ ARGUMENTS("--allow-write", "--scratch", "1M"), "--allow-write requires a FILE" },
		{ ARGUMENTS("--map", "anon", "--size", "1M", "--scratch", "1M"),
		  "--map anon has no file; leave out --scratch" },
		{ ARGUMENTS("--map", "anon", "--size", "1M", "--cache", "cold"),
		  "--cache requires a file; --map anon has none" },
		{ ARGUMENTS("--map", "anon", "--size", "32831", "--pattern", "locality"),
		  "--pattern: locality needs 32832 bytes, the memory has 32831" },
		{ ARGUMENTS("--fault-around", "on", "x"),
		  "--fault-around: 'on' is not one of keep, off" },
		{ ARGUMENTS("--repeat", "0", "x"),
		  "--repeat: '0' is not a whole number from 1 to 10000" },
		{ ARGUMENTS("--format", "xml", "x"),
		  "--format: 'xml' is not one of table, csv, json" },
		{ ARGUMENTS("--with", "rusage,hwc", "x"),
		  "--with: 'hwc' is not one of hw, cachegrind, rusage, syscalls, maps" },
		{ ARGUMENTS("--with", "maps,", "x"),
		  "--with: '' is not one of hw, cachegrind, rusage, syscalls, maps" },
		{ ARGUMENTS("--json", "x", "--record", "x", "y"),
		  "--record and --json are the same file, 'x'; name another file for the output" },
		{ ARGUMENTS("--json", "./x", "--record", "x", "y"),
		  "--record and --json are the same file, 'x'; name another file for the output" },
		{ ARGUMENTS("run", "--record", "r.pfs", "--repeat", "2", "x"),
		  "--record: a recording holds one run, not 2; leave out --repeat" },
		{ ARGUMENTS("record", "--format", "perfetto", "--", "ls"),
		  "--format perfetto requires a recording; use 'pfdrive record --output', then "
		  "'pfdrive report'" },
		{ ARGUMENTS("record", "--stacks", "--no-bpf", "--source", "module", "--", "ls"),
		  "--stacks requires eBPF or perf; leave --no-bpf out" },
		{ ARGUMENTS("top", "--interval", "0", "--", "ls"),
		  "--interval: '0' is not a number of seconds from 0.1 to 3600" },
		{ ARGUMENTS("report", "--format", "trace", "x"),
		  "--format: 'trace' is not one of table, csv, json, folded, perfetto, "
		  "faults-csv, faults-jsonl, requests-csv, mappings-csv, pprof, firefox" },
		{ ARGUMENTS("report", "--file", "a", "-"),
		  "--file: cannot read standard input twice; name a recording" },
		{ ARGUMENTS("report", "--plot", "-", "--format", "json", "x"),
		  "--plot - prints figures in place of the table; leave --format out" },
		{ ARGUMENTS("compare", "-", "-"),
		  "only one recording can be standard input; name a file for the other" },
		{ ARGUMENTS("replay", "-"),
		  "cannot replay standard input: the recording is read more than once; name a "
		  "file" },
		{ ARGUMENTS("maps", "-p", "none"),
		  "--pid: 'none' is not a whole number from 1 to 4194304" },
		{ ARGUMENTS("maps", "-p", "1", "2"),
		  "unexpected argument '2'; usage: pfdrive maps -p PID" },
		{ ARGUMENTS("study", "io", "--files", "0"),
		  "--files: '0' is not a whole number from 1 to 900" },
		{ ARGUMENTS("study", "io", "--file-size", "1000"),
		  "--file-size: '1000' is not a size from 4K to 65536G; use the suffixes K, M and "
		  "G" },
		{ ARGUMENTS("study", "io", "--file-size", "5000"),
		  "--file-size: '5000' is not a multiple of the page size, 4096 bytes" },
		{ ARGUMENTS("study", "io", "read:12"),
		  "invalid method 'read:12': SIZE must be a multiple of 8 bytes, at most 1G" },
		{ ARGUMENTS("study", "io", "--cache", "hot"),
		  "--cache: 'hot' is not one of cold, warm, fit" },
		{ ARGUMENTS("study", "io", "--repeat", "0"),
		  "--repeat: '0' is not a whole number from 1 to 10000" },
		{ ARGUMENTS("study", "pressure", "--compete", "5x", "x"),
		  "--compete: '5x' is neither a size (96M) nor a ratio (1.5), with or without "
		  ":random or :sequential" },
		{ ARGUMENTS("study", "pressure", "--compete", "12M:backwards", "x"),
		  "--compete: '12M:backwards' is neither a size (96M) nor a ratio (1.5), with or "
		  "without :random or :sequential" },
		{ ARGUMENTS("study", "pressure", "--compete", "12M", "--competitors", "17", "x"),
		  "--competitors: '17' is not a whole number from 1 to 16" },
		{ ARGUMENTS("study", "pressure", "--record", "r.pfs", "x"),
		  "--record: a recording holds one run, and a study makes two; use 'pfdrive run'" },
		{ ARGUMENTS("bench", "--list", "cpu"), "--list does not measure; leave out cpu" },
		{ ARGUMENTS("bench", "--serve", "--quick"),
		  "--serve does not measure; leave out --quick" },
		{ ARGUMENTS("bench", "--serve", "--list"), "give only one of --serve and --list" },
		{ ARGUMENTS("bench", "--cpu", "many"),
		  "--cpu: 'many' is not a whole number from 0 to 8191" },
		{ ARGUMENTS("--map", "anon", "--size", "1M", "--pattern", "stride:2M"),
		  "--pattern: the stride of stride:2M is longer than the memory, 1048576 bytes" },
		{ ARGUMENTS("help", "reprot"), "unknown command 'reprot'; did you mean 'report'?" },
		{ ARGUMENTS("help", "nothing"), "unknown command 'nothing'; see pfdrive --help" },
	};
	const char *sentence;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(run(cases[i].arguments), STATUS_USAGE);
		sentence = strstr(err, ": "); /* after "pfdrive", or "pfdrive record" */
		ck_assert_ptr_nonnull(sentence);
		ck_assert_str_eq(strtok((char *)sentence + strlen(": "), "\n"), cases[i].sentence);
		ck_assert_ptr_null(strtok(NULL, "\n"));
		ck_assert_str_eq(out, "");
	}
}

TEST(test_an_offset_beyond_the_file_is_refused)
{
	ck_assert_int_eq(RUN("study", "rss", "README.md", "1G"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "pfdrive: cannot touch byte 1073741824 of README.md: it "
					  "has only "));
}

TEST(test_more_methods_than_a_study_can_hold_are_refused)
{
	char methods[33][16], *arguments[37] = { "pfdrive", "study", "io" };
	size_t i;

	for (i = 0; i < 33; i++) {
		snprintf(methods[i], sizeof(methods[i]), "read:%zu", 8 * (i + 1));
		arguments[i + 3] = methods[i];
	}
	ck_assert_int_eq(run(arguments), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive study io: at most 32 methods can be given, and mmap counts "
			      "twice; leave out 'read:264'\n");
	strcpy(methods[31], "mmap");
	arguments[35] = NULL;
	ck_assert_int_eq(run(arguments), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "leave out 'mmap'\n"));
}

/* The path or the file is wrong, not the usage, so the status means failure. */
TEST(test_a_file_that_cannot_be_used_is_refused_with_the_reason)
{
	static struct {
		char *arguments[10];
		const char *sentence;
	} cases[] = {
		{ ARGUMENTS("./x"), "pfdrive: there is no file ./x; make one, or name another\n" },
		{ ARGUMENTS("/dev"), "pfdrive: /dev is a folder; name a file\n" },
		{ ARGUMENTS("/dev/zero"), "pfdrive: /dev/zero is not a regular file; name one\n" },
		{ ARGUMENTS("study", "rss", "/proc/version"),
		  "pfdrive: /proc/version is empty: there is nothing to access\n" },
		{ ARGUMENTS("maps", "-p", "4194304"), "pfdrive: there is no process 4194304\n" },
		{ ARGUMENTS("report", "./x"),
		  "pfdrive: cannot open ./x: No such file or directory\n" },
		{ ARGUMENTS("report", "/dev"), "pfdrive: cannot read /dev: Is a directory\n" },
		{ ARGUMENTS("report", "/dev/null"),
		  "pfdrive: cannot read /dev/null: it is empty\n" },
		{ ARGUMENTS("report", "README.md"),
		  "pfdrive: README.md is not a pfdrive recording\n" },
		{ ARGUMENTS("compare", "./x", "./y"),
		  "pfdrive: cannot open ./x: No such file or directory\n" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(run(cases[i].arguments), STATUS_FAILED);
		ck_assert_str_eq(err, cases[i].sentence);
		ck_assert_str_eq(out, "");
	}
}

TEST(test_an_unknown_study_is_refused_with_the_choices)
{
	ck_assert_int_eq(RUN("study"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: no study was given; choose from io, rss, pressure\n");
	ck_assert_int_eq(RUN("study", "rest"), STATUS_USAGE);
	ck_assert_str_eq(err, "pfdrive: unknown study 'rest'; choose from io, rss, pressure\n");
}

/* run refuses these itself. They are not unknown words. */
TEST(test_a_path_or_an_option_selects_run)
{
	ck_assert_int_eq(RUN("./missing"), STATUS_FAILED);
	ck_assert_str_eq(err, "pfdrive: there is no file ./missing; make one, or name another\n");
	ck_assert_int_eq(RUN("run", "missing"), STATUS_FAILED);
	ck_assert_ptr_nonnull(strstr(err, "there is no file missing"));
	ck_assert_int_eq(RUN("-n", "1"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "no FILE was given"));
	ck_assert_int_eq(RUN("Documentation"), STATUS_FAILED); /* the tests run at the top */
	ck_assert_str_eq(err, "pfdrive: Documentation is a folder; name a file\n");
}

TEST(test_a_file_that_is_named_like_a_command_needs_a_folder)
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

/* The folder of this program has no pfbench, so the studies are not listed. */
TEST(test_the_list_has_a_line_for_each_command)
{
	char line[256];
	size_t i;

	ck_assert_int_eq(RUN("--help"), STATUS_OK);
	for (i = 0; i < nr_subcommands; i++) {
		snprintf(line, sizeof(line), "\n  %-15s %s\n", subcommands[i]->name,
			 subcommands[i]->summary);
		if (subcommands[i]->group == COMMAND_HIDDEN ||
		    subcommands[i]->group == COMMAND_STUDY)
			ck_assert_ptr_null(strstr(out, line));
		else
			ck_assert_ptr_nonnull(strstr(out, line));
		ck_assert_uint_le(strlen(line), 80 + strlen("\n\n"));
	}
	ck_assert_str_eq(err, "");
}

TEST(test_a_missing_command_is_refused_with_the_list)
{
	static char listed[sizeof(out)];

	ck_assert_int_eq(RUN("--help"), STATUS_OK);
	strcpy(listed, out);
	ck_assert_int_eq(RUN(), STATUS_USAGE);
	ck_assert_str_eq(err, listed);
	ck_assert_str_eq(out, "");
}

/* Searches for man(1) in an empty folder, whatever the host has. */
TEST(test_help_prints_the_options_of_a_command_without_a_manual)
{
	setenv("MANPATH", "/nowhere", 1);
	ck_assert_int_eq(RUN("help", "run"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive run "));
	ck_assert_int_eq(RUN("help", "reprto"), STATUS_USAGE);
	ck_assert_ptr_nonnull(strstr(err, "did you mean 'report'?"));
	ck_assert_int_eq(RUN("help"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive COMMAND"));
	ck_assert_int_eq(RUN("help", "study"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(out, "Usage: pfdrive COMMAND"));
}

TEST(test_each_command_has_a_manual_page)
{
	char path[128], *space;
	const struct subcommand *all[BENCH_MAX_COMMANDS];
	const size_t nr = bench_commands_all(all);
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!all[i]->argp)
			continue;
		/* The tests run at the top. */
		snprintf(path, sizeof(path), "Documentation/man/pfdrive-%s.1.rst", all[i]->name);
		while ((space = strchr(path, ' ')))
			*space = '-';
		ck_assert_msg(!access(path, R_OK), "there is no %s", path);
	}
}

TEST(test_helpers_refuse_foreign_arguments)
{
	ck_assert_int_eq(RUN("helper"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "nothing"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "cgroup-reaper", "/sys/fs/cgroup"), STATUS_USAGE);
	ck_assert_int_eq(RUN("helper", "unpin", "x"), STATUS_USAGE);
	ck_assert_int_eq(RUN("loop"), STATUS_USAGE);
}

TEST(test_an_unknown_item_of_with_is_refused_with_the_choices)
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

TEST(test_each_command_prints_its_own_help)
{
	char words[64], usage[128], *second;
	size_t i;

	for (i = 0; i < nr_subcommands; i++) {
		if (!subcommands[i]->argp)
			continue;
		strcpy(words, subcommands[i]->name);
		second = strchr(words, ' ');
		if (second)
			*second++ = '\0';
		ck_assert_int_eq(second ? RUN(words, second, "--help") : RUN(words, "--help"),
				 STATUS_OK);
		snprintf(usage, sizeof(usage), "Usage: pfdrive %s ", subcommands[i]->name);
		ck_assert_ptr_nonnull(strstr(out, usage));
	}
}
