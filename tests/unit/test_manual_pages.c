// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares each command's options with the manual page in Documentation/man. A page has each option
 * as "-x, --name ARGUMENT", with a paragraph that ends with an example. It may instead name another
 * page's options as "**--name**".
 */
#include <ctype.h>
#include <string.h>

#include "bench/pfbench.h"
#include "runner.h"
#include "text_file.h"
#include "user/cmd/cmd.h"

#define MOST_OPTIONS 64

static const struct argp_option *options[MOST_OPTIONS];
static size_t nr_options;
static const struct subcommand *commands[BENCH_MAX_COMMANDS];
static size_t nr_commands;

static void list_commands(void)
{
	nr_commands = bench_commands_all(commands);
}

static void collect(const struct argp *argp)
{
	const struct argp_option *option = argp->options;
	const struct argp_child *child;

	for (; option && (option->name || option->key || option->doc || option->group); option++) {
		if (!option->name || option->flags & (OPTION_DOC | OPTION_HIDDEN))
			continue;
		ck_assert_uint_lt(nr_options, MOST_OPTIONS);
		options[nr_options++] = option;
	}
	for (child = argp->children; child && child->argp; child++)
		collect(child->argp);
}

/* The command's page, without its first line. The options are in options[]. */
static const char *page_of(const struct subcommand *command)
{
	char path[128], *space;

	snprintf(path, sizeof(path), "Documentation/man/pfdrive-%s.1.rst", command->name);
	while ((space = strchr(path, ' ')))
		*space = '-';
	nr_options = 0;
	collect(command->argp);
	return text_file_read(path);
}

/* As the page writes it: "-f, --format table|json". */
static void term_of(const struct argp_option *option, char *term, size_t size)
{
	const bool optional = option->flags & OPTION_ARG_OPTIONAL;
	char letter[8] = "";

	if (option->key < 128 && isprint(option->key))
		snprintf(letter, sizeof(letter), "-%c, ", option->key);
	snprintf(term, size, "%s--%s%s%s%s", letter, option->name,
		 optional    ? "[=" :
		 option->arg ? " " :
			       "",
		 option->arg ?: "", optional ? "]" : "");
}

TEST(test_each_option_is_in_the_manual_page)
{
	char term[256], line[280], reference[128];
	const char *page;
	size_t i, j;

	for (i = 0; i < nr_commands; i++) {
		if (!commands[i]->argp)
			continue;
		page = page_of(commands[i]);
		for (j = 0; j < nr_options; j++) {
			term_of(options[j], term, sizeof(term));
			snprintf(line, sizeof(line), "\n%s\n    ", term);
			snprintf(reference, sizeof(reference), "**--%s**", options[j]->name);
			ck_assert_msg(strstr(page, line) || strstr(page, reference),
				      "the page of %s lacks %s", commands[i]->name, term);
		}
	}
}

static bool is_option(const char *term, size_t length)
{
	char text[256];
	size_t i;

	for (i = 0; i < nr_options; i++) {
		term_of(options[i], text, sizeof(text));
		if (strlen(text) == length && !strncmp(text, term, length))
			return true;
	}
	return false;
}

/* True if the line begins with an option, and is not the underline of a title. */
static bool is_term(const char *line)
{
	return line[0] == '-' && (isalpha((unsigned char)line[1]) ||
				  (line[1] == '-' && isalpha((unsigned char)line[2])));
}

TEST(test_each_option_of_a_manual_page_exists_and_has_an_example)
{
	const char *line, *end, *example, *name;
	unsigned int terms;
	size_t i;

	for (i = 0; i < nr_commands; i++) {
		if (!commands[i]->argp)
			continue;
		name = commands[i]->name;
		terms = 0;
		for (line = page_of(commands[i]); line; line = end ? end + 1 : NULL) {
			end = strchr(line, '\n');
			if (!end || !is_term(line) || strncmp(end, "\n    ", strlen("\n    ")) ||
			    !strncmp(line, "--help", strlen("--help")))
				continue;
			ck_assert_msg(is_option(line, end - line), "%s has no option %.*s", name,
				      (int)(end - line), line);
			example = strstr(end, "Example:");
			ck_assert_ptr_nonnull(example);
			while (*++end && (*end == ' ' || *end == '\n'))
				end = strchr(end, '\n') ?: strchr(end, '\0') - 1;
			ck_assert_msg(example < end, "%.40s of %s has no example", line, name);
			end--;
			terms++;
		}
		ck_assert_uint_ge(terms, 2);
	}
}

TEST(test_each_manual_page_has_examples)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (commands[i]->argp)
			ck_assert_msg(strstr(page_of(commands[i]), "\nEXAMPLES\n========\n"),
				      "the page of %s has no examples", commands[i]->name);
}

FIXTURE(list_commands, NULL);
