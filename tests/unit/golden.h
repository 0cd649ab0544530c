/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Golden files: text printed by pfdrive is compared with tests/unit/golden/NAME.txt. A file has a
 * section for each text, headed "== TEST", or "== TEST NUMBER" from the second text in a test on,
 * sorted by heading. With PFSTAT_ACCEPT in the environment ('make accept') the sections are written
 * instead, and git diff shows how the output changes.
 */
#ifndef PFSTAT_TESTS_GOLDEN_H
#define PFSTAT_TESTS_GOLDEN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define GOLDEN_MARK    "== "
#define GOLDEN_HEADING 256

/* @text: ends with a newline */
#define golden_check(name, text) golden_check_of(name, __func__, text)

/* The whole file, which the caller frees. */
static inline char *golden_read(FILE *file)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	ck_assert_ptr_nonnull(text);
	return text;
}

/* The first section at or after @at, or the end of the text. */
static inline const char *golden_section(const char *at)
{
	while (*at && strncmp(at, GOLDEN_MARK, strlen(GOLDEN_MARK)))
		at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
	return at;
}

/* Finds the section, or the place where it would be. @next: the end of the section */
static inline const char *golden_find(const char *text, const char *heading, const char **next)
{
	const char *at = golden_section(text);
	int order = 1;

	for (; *at; at = *next) {
		*next = golden_section(at + 1);
		order = strncmp(at, heading, strcspn(at, "\n") + 1);
		if (order >= 0)
			break;
	}
	if (order)
		*next = at;
	return at;
}

static inline void golden_accept(const char *path, const char *heading, const char *text)
{
	FILE *file = fopen(path, "a+");
	const char *at, *next;
	char *before;

	ck_assert_msg(file && !flock(fileno(file), LOCK_EX), "cannot write %s", path);
	rewind(file);
	before = golden_read(file);
	at = golden_find(before, heading, &next);
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	fprintf(file, "%.*s%s%s%s", (int)(at - before), before, heading, text, next);
	ck_assert_int_eq(fclose(file), 0);
	free(before);
}

static inline void golden_compare(const char *path, const char *heading, const char *text)
{
	FILE *file = fopen(path, "r");
	const char *at, *next;
	char *golden;
	size_t same = 0;

	ck_assert_msg(file, "there is no %s; 'make accept' writes it", path);
	golden = golden_read(file);
	fclose(file);
	at = golden_find(golden, heading, &next);
	ck_assert_msg(at < next, "%s lacks this section; 'make accept' writes it: %s", path,
		      heading);
	at += strlen(heading);
	while (at + same < next && text[same] == at[same])
		same++;
	if (at + same < next || text[same]) {
		while (same && text[same - 1] != '\n')
			same--;
		ck_abort_msg("%s has in section %s%.*s\nbut this was printed:\n%.*s\n'make accept' "
			     "accepts it",
			     path, heading, (int)strcspn(at + same, "\n"), at + same,
			     (int)strcspn(text + same, "\n"), text + same);
	}
	free(golden);
}

static inline void golden_check_of(const char *name, const char *test, const char *text)
{
	static const char *last = "";
	static unsigned int number;
	char path[128], heading[GOLDEN_HEADING];

	ck_assert_msg(*text && text[strlen(text) - 1] == '\n', "the last line has no end: %s",
		      text);
	ck_assert_ptr_null(strstr(text, "\n" GOLDEN_MARK));
	snprintf(path, sizeof(path), "tests/unit/golden/%s.txt", name);
	number = strcmp(last, test) ? 1 : number + 1;
	last = test;
	if (number > 1)
		snprintf(heading, sizeof(heading), GOLDEN_MARK "%s %02u\n", test, number);
	else
		snprintf(heading, sizeof(heading), GOLDEN_MARK "%s\n", test);
	if (getenv("PFSTAT_ACCEPT"))
		golden_accept(path, heading, text);
	else
		golden_compare(path, heading, text);
}

#endif
