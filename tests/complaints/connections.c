// SPDX-License-Identifier: GPL-2.0-only
/*
 * A database with buffers in shared memory: connections COUNT [wait|huge|wait_huge]. The server
 * fills them once. Each connection is a new process that reads all buffers: no page is new, each
 * fault only enters a memory page in one more page table. wait: for a line on standard input after
 * the fill.
 */
#include <sys/wait.h>

#include "complaint.h"

#define BUFFERS (16 * MIB)

static __attribute__((noinline)) void query(volatile char *buffers)
{
	size_t at;

	/* Each buffer has a user count. */
	for (at = 0; at < BUFFERS; at += PAGE)
		buffers[at]++;
}

int main(int argc, char **argv)
{
	const unsigned long connections = number_of(argc, argv, 1, 20);
	const bool huge = is_word(argc, argv, 2, "huge") || is_word(argc, argv, 2, "wait_huge");
	unsigned long i;
	char *buffers;

	buffers = map_memory(BUFFERS, MAP_SHARED | (huge ? MAP_HUGETLB : 0));
	memset(buffers, 1, BUFFERS);
	puts("ready");
	fflush(stdout);
	if (!strncmp(word_of(argc, argv, 2, ""), "wait", 4))
		getchar();
	for (i = 0; i < connections; i++) {
		const pid_t pid = fork();

		if (!pid) {
			query(buffers);
			_exit(0);
		}
		if (pid < 0 || wait(NULL) != pid)
			err(1, "fork");
	}
	printf("%lu connections\n", connections);
	return 0;
}
