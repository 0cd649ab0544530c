// SPDX-License-Identifier: GPL-2.0-only
/*
 * Documentation/user/bench.rst and the man page describe the operations in the registry: a missing,
 * extra or repeated name fails, and so does a different title.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/suite/ops/op_registry.h"
#include "runner.h"

/* The tests run at the top of the tree. */
#define GUIDE	       "Documentation/user/bench.rst"
#define MAN_PAGE       "Documentation/man/pfdrive-bench.1.rst"
#define MAX_LINES      1000
#define MAX_OPERATIONS 200

struct document {
	const char *path;
	char lines[MAX_LINES + 1][256];
	size_t nr;
	unsigned int found[MAX_OPERATIONS]; /* occurrences of each operation */
};

static void document_read(struct document *document, const char *path)
{
	FILE *file = fopen(path, "re");

	memset(document, 0, sizeof(*document));
	document->path = path;
	ck_assert_msg(file, "cannot read %s", path);
	while (document->nr < MAX_LINES &&
	       fgets(document->lines[document->nr], sizeof(document->lines[0]), file))
		document->nr++;
	fclose(file);
	ck_assert_uint_lt(document->nr, MAX_LINES);
	ck_assert_uint_le(bench_nr_operations, MAX_OPERATIONS);
}

/* A title is underlined with =. A table border also contains spaces. */
static bool is_heading(const struct document *document, size_t line)
{
	const char *underline = document->lines[line + 1];

	return underline[0] == '=' && underline[strspn(underline, "=")] == '\n';
}

/* Returns the first line in a section's body. */
static size_t section_start(const struct document *document, const char *name)
{
	const size_t length = strlen(name);
	size_t i;

	for (i = 0; i < document->nr; i++)
		if (!strncmp(document->lines[i], name, length) &&
		    document->lines[i][length] == '\n' && is_heading(document, i))
			return i + 2;
	ck_abort_msg("%s has no section %s", document->path, name);
	return 0;
}

/* Counts the operation at the start of @name. Returns the operation's index. */
static size_t document_count(struct document *document, const char *name)
{
	const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
	size_t i;

	for (i = 0; i < bench_nr_operations; i++)
		if (strlen(bench_operations[i]->name) == length &&
		    !strncmp(bench_operations[i]->name, name, length))
			break;
	ck_assert_msg(i < bench_nr_operations, "%s: '%.*s' is not an operation", document->path,
		      (int)length, name);
	document->found[i]++;
	return i;
}

static void check_all_found_once(const struct document *document)
{
	size_t i;

	for (i = 0; i < bench_nr_operations; i++)
		ck_assert_msg(document->found[i] == 1, "%s describes %s %u times", document->path,
			      bench_operations[i]->name, document->found[i]);
}

/* A term in a definition list, "cpu.counter, cpu.call:0 … 7", precedes an indented line. */
static bool is_term(const struct document *document, size_t line)
{
	const char *text = document->lines[line];
	const size_t family = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return family && text[family] == '.' && document->lines[line + 1][0] == ' ';
}

TEST(test_guide_describes_each_operation_once)
{
	static struct document document;
	const char *name;
	size_t i;

	document_read(&document, GUIDE);
	for (i = section_start(&document, "Operations"); !is_heading(&document, i); i++) {
		if (!is_term(&document, i))
			continue;
		for (name = document.lines[i]; name; name = strstr(name, ", ")) {
			name += name == document.lines[i] ? 0 : 2;
			document_count(&document, name);
		}
	}
	check_all_found_once(&document);
}

/* Joins the following indented lines. */
static void read_title(const struct document *document, size_t line, char *title, size_t size)
{
	const char *text;

	title[0] = '\0';
	for (; document->lines[line][0] == ' '; line++) {
		text = document->lines[line] + strspn(document->lines[line], " ");
		snprintf(title + strlen(title), size - strlen(title), "%s%.*s", title[0] ? " " : "",
			 (int)strcspn(text, "\n"), text);
	}
}

TEST(test_man_page_lists_each_operation_with_its_title)
{
	static struct document document;
	char title[512];
	size_t i, found;

	document_read(&document, MAN_PAGE);
	for (i = section_start(&document, "OPERATIONS"); !is_heading(&document, i); i++) {
		if (strncmp(document.lines[i], "**", 2))
			continue;
		found = document_count(&document, document.lines[i] + 2);
		read_title(&document, i + 1, title, sizeof(title));
		ck_assert_str_eq(title, bench_operations[found]->title);
	}
	check_all_found_once(&document);
}
