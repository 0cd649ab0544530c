// SPDX-License-Identifier: GPL-2.0-only
/*
 * An in-memory server saves data in a child: background_save MIB [wait] [after|huge]. While the
 * child has its copy, the server's first store to each page copies the page. wait: for a line on
 * standard input, after the fork. after: the stores come after the save. huge: the data is in
 * transparent huge pages.
 */
#include <signal.h>
#include <sys/wait.h>

#include "complaint.h"

static __attribute__((noinline)) void serve_writes(volatile char *data, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += PAGE)
		data[at]++;
}

int main(int argc, char **argv)
{
	const size_t bytes = number_of(argc, argv, 1, 24) * MIB;
	const char *last = word_of(argc, argv, argc - 1, "");
	const bool after = !strcmp(last, "after"), huge = !strcmp(last, "huge");
	char *data = map_memory(bytes, MAP_PRIVATE);
	pid_t child;

	if (madvise(data, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		err(1, "madvise");
	memset(data, 1, bytes);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pause();
		_exit(0);
	}
	puts("ready");
	fflush(stdout);
	if (is_word(argc, argv, 2, "wait"))
		getchar();
	if (!after)
		serve_writes(data, bytes);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (after)
		serve_writes(data, bytes);
	puts("saved");
	return 0;
}
