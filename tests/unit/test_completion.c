// SPDX-License-Identifier: GPL-2.0-only
/* The completion of pfdrive's command line has every command and option, and a shell accepts it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pfbench.h"
#include "runner.h"
#include "user/cmd/cmd.h"

static const char *const shells[] = { "bash", "zsh" };
static char text[65536];
static const struct subcommand *commands[BENCH_MAX_COMMANDS];
static size_t nr_commands;

static void list_commands(void)
{
	nr_commands = bench_commands_all(commands);
}

static void write_script(const char *shell, const char *path)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert(completion_print(file, shell, commands, nr_commands));
	ck_assert_int_eq(fclose(file), 0);
}

static void read_all(FILE *file)
{
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
}

static void read_script(const char *shell)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert(completion_print(file, shell, commands, nr_commands));
	rewind(file);
	read_all(file);
	fclose(file);
}

/* The COMMAND --help output. */
static FILE *help_of(const struct subcommand *command)
{
	char *arguments[3] = { command->title, "--help", NULL };
	FILE *file = tmpfile();
	pid_t child;

	ck_assert_ptr_nonnull(file);
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fileno(file), STDOUT_FILENO);
		exit(command->run(2, arguments));
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	rewind(file);
	return file;
}

/* One command's section in the script: from this command's name to the next command's name. */
static char *part_of(const char *shell, const char *name)
{
	char begin[64], *part, *end;

	read_script(shell);
	snprintf(begin, sizeof(begin), "\t'%s') ", name);
	if (!strcmp(shell, "zsh"))
		begin[strlen(begin) - 1] = '\n';
	part = strstr(text, begin);
	ck_assert_ptr_nonnull(part);
	end = strstr(part, " ;;");
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	return part;
}

/* Finds "--name", but not as the start of a longer option. */
static bool has_option(const char *part, const char *option)
{
	const size_t length = strlen(option);
	const char *at = part;

	while ((at = strstr(at, option))) {
		at += length;
		if (*at != '-' && !isalnum((unsigned char)*at))
			return true;
	}
	return false;
}

TEST(test_script_has_every_option_of_every_command, .loops = 2)
{
	const char *shell = shells[_i];
	char line[256], option[64], *part, *at;
	unsigned int options;
	FILE *help;
	size_t i;

	for (i = 0; i < nr_commands; i++) {
		if (!commands[i]->argp)
			continue;
		part = part_of(shell, commands[i]->name);
		help = help_of(commands[i]);
		options = 0;
		while (fgets(line, sizeof(line), help)) {
			at = line + strspn(line, " ");
			if (at == line || at - line > 6 || *at != '-')
				continue; /* not the first line of an option */
			at = strstr(at, "--");
			ck_assert_ptr_nonnull(at);
			snprintf(option, sizeof(option), "%.*s",
				 (int)strspn(at, "abcdefghijklmnopqrstuvwxyz-"), at);
			ck_assert_msg(has_option(part, option), "%s: %s of %s is missing", shell,
				      option, commands[i]->name);
			options++;
		}
		fclose(help);
		ck_assert_uint_ge(options, 5);
	}
}

TEST(test_script_has_every_command_and_no_helper, .loops = 2)
{
	const char *name;
	char word[64];
	size_t i;

	read_script(shells[_i]);
	for (i = 0; i < nr_commands; i++) {
		name = strchr(commands[i]->name, ' ');
		name = name ? name + 1 : commands[i]->name;
		snprintf(word, sizeof(word), _i ? "\t'%s:" : "%s ", name);
		ck_assert(!!strstr(text, word) == (commands[i]->group != COMMAND_HIDDEN) ||
			  !strcmp(name, "helper"));
	}
	ck_assert_ptr_null(strstr(text, "cgroup-reaper"));
	ck_assert_ptr_null(strstr(text, "bare-loop"));
}

TEST(test_the_shell_accepts_it, .loops = 2)
{
	char path[] = "/tmp/pfstat-completion-XXXXXX", line[256];
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	write_script(shells[_i], path);
	snprintf(line, sizeof(line), "! command -v %s >/dev/null || %s -n %s", shells[_i],
		 shells[_i], path);
	ck_assert_int_eq(system(line), 0);
	unlink(path);
}

/* The words offered by bash for the last word. */
static const char *offered(const char *path, const char *words)
{
	char line[1024];
	FILE *bash;

	snprintf(line, sizeof(line),
		 "bash -c '. %s; COMP_WORDS=(pfdrive %s); "
		 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pfdrive; echo ${COMPREPLY[@]}'",
		 path, words);
	bash = popen(line, "r");
	ck_assert_ptr_nonnull(bash);
	read_all(bash);
	ck_assert_int_eq(pclose(bash), 0);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

TEST(test_bash_offers_commands_options_and_values)
{
	static const struct {
		const char *words, *offered;
	} cases[] = {
		{ "re", "record replay report" },
		{ "study \"\"", "io rss pressure" },
		{ "study r", "rss" },
		{ "help ma", "maps" },
		{ "help study p", "pressure" },
		{ "run --fo", "--format" },
		{ "--fo", "" },
		{ "run -f \"\"", "table csv json" },
		{ "run --format = j", "json" },
		{ "run --format =", "table csv json" },
		{ "file.bin --pat", "--pattern" },
		{ "run --pattern s", "sequential stride:" },
		{ "run --with hw,ca", "hw,cachegrind" },
		{ "report --with r", "rusage" },
		{ "report --by st", "stack" },
		{ "replay --advise w", "willneed" },
		{ "study io --cache f", "fit" },
		{ "study pressure --com", "--compete --competitors" },
		{ "record -- ls --fo", "" },
		{ "report fi", "" }, /* file names, through complete -o default */
	};
	char path[] = "/tmp/pfstat-completion-XXXXXX";
	const int fd = mkstemp(path);
	size_t i;

	ck_assert_int_ge(fd, 0);
	close(fd);
	write_script("bash", path);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(offered(path, cases[i].words), cases[i].offered);
	unlink(path);
}

TEST(test_another_shell_is_refused)
{
	ck_assert(!completion_print(stdout, "fish", commands, nr_commands));
}

FIXTURE(list_commands, NULL);
