// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds arbitrary words to pfdrive's command line. Each input ends with the parser: with a message
 * and STATUS_USAGE, or with accepted options. Wrappers around argp's two functions
 * (tools/make/fuzz.mk) then leave the subcommand by longjmp() before it does any work.
 */
#include <argp.h>
#include <errno.h>
#include <sanitizer/allocator_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/privilege/invoker.h"
#include "user/privilege/named_files.h"
#include "user/util/message.h"

#define MAX_WORDS	32
#define MAX_ALLOCATIONS 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int pfdrive_main(int argc, char **argv);
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *end, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *end, void *input);
void __wrap_argp_failure(const struct argp_state *state, int status, int err, const char *format,
			 ...);

static jmp_buf ended;

/* Allocations made by a failing parser. A program would free them at exit. */
static const volatile void *allocations[MAX_ALLOCATIONS];
static size_t nr_allocations;
static __thread bool noting;

static void note_malloc(const volatile void *pointer, size_t size)
{
	(void)size;
	if (!noting)
		return;
	if (nr_allocations == MAX_ALLOCATIONS)
		abort();
	allocations[nr_allocations++] = pointer;
}

static void note_free(const volatile void *pointer)
{
	size_t i;

	for (i = 0; noting && i < nr_allocations; i++)
		if (allocations[i] == pointer)
			allocations[i] = allocations[--nr_allocations];
}

static void free_all(void)
{
	size_t i;

	named_files_clear();
	noting = false;
	for (i = 0; i < nr_allocations; i++)
		free((void *)allocations[i]);
	nr_allocations = 0;
}

/* Stands in for pfdrive's exit. Checks that the message contains more than the program's name. */
void __wrap_argp_failure(const struct argp_state *state, int status, int err, const char *format,
			 ...)
{
	char sentence[512];
	va_list arguments;

	(void)state;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	if (status != STATUS_USAGE || err || strlen(sentence) < 10)
		abort();
	longjmp(ended, 1);
}

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *end, void *input)
{
	noting = true;
	/* Without argp's own options: one of them sleeps for an hour (--HANG). */
	__real_argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT | ARGP_NO_HELP, end, input);
	longjmp(ended, 2);
}

/*
 * The linker replaces functions in user/privilege/invoker.c by these, so no host users are looked
 * up: free_all() would free libc's memory for them. Each name with odd length is a user.
 */
int __wrap_invoker_init(const char *sudo_uid, const char *sudo_gid);
int __wrap_invoker_choose(const char *user);
bool __wrap_invoker_is_other(void);

int __wrap_invoker_init(const char *sudo_uid, const char *sudo_gid)
{
	(void)sudo_uid;
	(void)sudo_gid;
	return 0;
}

int __wrap_invoker_choose(const char *user)
{
	return strlen(user) % 2 ? 0 : -ENOENT;
}

bool __wrap_invoker_is_other(void)
{
	return false;
}

/* These take no options, and run other programs or wait for their exit. */
static bool is_internal(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "helper");
}

/* Splits at white space. */
static int split(char *text, char **words)
{
	static const char blanks[] = " \n\t";
	char *word, *rest = text;
	int nr = 0;

	words[nr++] = "pfdrive";
	for (word = strtok_r(text, blanks, &rest); word && nr < MAX_WORDS;
	     word = strtok_r(NULL, blanks, &rest))
		words[nr++] = word;
	words[nr] = NULL;
	return nr;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *volatile text = malloc(size + 1);
	char *words[MAX_WORDS + 1];
	int nr;

	memcpy(text, data, size);
	text[size] = '\0';
	nr = split(text, words);
	if (nr < 2 || !is_internal(words[1]))
		if (!setjmp(ended))
			pfdrive_main(nr, words);
	free_all();
	free(text);
	return 0;
}
