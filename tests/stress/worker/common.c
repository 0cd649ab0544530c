// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the jobs: random numbers, the pattern in a file's pages and the pattern check,
 * children.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"

static __thread uint64_t random_state = 1;

void random_seed(uint64_t seed)
{
	/* splitmix64: neighbouring seeds give unrelated numbers */
	seed += 0x9e3779b97f4a7c15;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
	random_state = (seed ^ seed >> 31) | 1;
}

/* xorshift64* */
uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1d >> 16) % limit;
}

bool random_one_in(unsigned int n)
{
	return !random_below(n);
}

void wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

long need(long result, const char *call)
{
	if (result == -1)
		wrong("%s: %s", call, strerror(errno));
	return result;
}

void *need_map(void *address, const char *call)
{
	need(address == MAP_FAILED ? -1 : 0, call);
	return address;
}

uint64_t pattern(const struct file *file, size_t index)
{
	return (uint64_t)file->id << 48 | (uint64_t)index << 16;
}

void file_fill(const struct file *file, size_t first, size_t count)
{
	uint64_t words[WORDS];
	size_t index, i;

	for (index = first; index < first + count; index++) {
		for (i = 0; i < WORDS; i++)
			words[i] = pattern(file, index);
		need(pwrite(file->fd, words, PAGE, index * PAGE), "pwrite");
	}
}

static struct file open_with(const char *path, uint16_t id, size_t pages, int flags)
{
	struct file file = { .path = path, .id = id, .pages = pages };

	file.fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	need(file.fd, path);
	return file;
}

struct file file_make(const char *path, uint16_t id, size_t pages)
{
	struct file file = open_with(path, id, pages, O_CREAT | O_TRUNC);

	file_fill(&file, 0, pages);
	return file;
}

struct file file_open(const char *path, uint16_t id, size_t pages)
{
	return open_with(path, id, pages, 0);
}

page_words map_file(const struct file *file, int prot, int flags)
{
	return need_map(mmap(NULL, file->pages * PAGE, prot, flags, file->fd, 0), "mmap");
}

page_words page_at(page_words map, size_t page)
{
	return map + page * WORDS;
}

bool word_is_of(const struct file *file, uint64_t word, size_t index)
{
	return word >> 16 == pattern(file, index) >> 16;
}

void check_word(const struct file *file, uint64_t word, size_t index)
{
	if (!word_is_of(file, word, index))
		wrong("page %zu of %s (file %u) has the word %#" PRIx64 ": file %u, page %u", index,
		      file->path, file->id, word, (unsigned int)(word >> 48),
		      (unsigned int)(word >> 16));
}

void check_page(const struct file *file, page_words page, size_t index)
{
	check_word(file, page[random_below(WORDS)], index);
}

pid_t fork_child(void)
{
	pid_t parent = getpid(), child = need(fork(), "fork");

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGTERM, SIG_DFL); /* sent by the parent, which waits for the exit */
	random_seed(random_below(UINT64_MAX) ^ getpid());
	return 0;
}

void join_child(pid_t child)
{
	int status;

	need(waitpid(child, &status, 0), "waitpid");
	if (!WIFEXITED(status))
		wrong("child %d was ended by signal %d", child, WTERMSIG(status));
	if (WEXITSTATUS(status))
		wrong("child %d ended with %d", child, WEXITSTATUS(status));
}

void end_child(pid_t child)
{
	int status;

	need(kill(child, SIGKILL), "kill");
	need(waitpid(child, &status, 0), "waitpid");
	/* An error before SIGTERM also counts. */
	if (WIFEXITED(status) && WEXITSTATUS(status))
		wrong("child %d ended with %d", child, WEXITSTATUS(status));
}

void not_available(const char *what)
{
	static const char *said;

	if (said)
		return;
	said = what;
	printf("not available: %s\n", what);
	fflush(stdout);
}
