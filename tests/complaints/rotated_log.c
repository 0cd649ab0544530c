// SPDX-License-Identifier: GPL-2.0-only
/*
 * A viewer for mapped logs meets a truncated file: rotated_log FILE ROUNDS. Each access after the
 * file's end is SIGBUS. The handler maps an empty page there, as journalctl does, and the viewer
 * continues with the next page.
 */
#include <signal.h>

#include "complaint.h"

#define PAGES 256

static volatile unsigned long caught;

static void on_end(int number, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)info->si_addr & ~(PAGE - 1);

	(void)number;
	(void)context;
	caught++;
	if (mmap((void *)page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		_exit(1);
}

static __attribute__((noinline)) unsigned long view(const volatile char *log)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < PAGES; i++)
		sum += log[i * PAGE];
	return sum;
}

int main(int argc, char **argv)
{
	const char *path = word_of(argc, argv, 1, "log");
	const unsigned long rounds = number_of(argc, argv, 2, 20);
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct sigaction action = { .sa_sigaction = on_end, .sa_flags = SA_SIGINFO };
	unsigned long round, sum = 0;

	if (fd < 0)
		err(1, "%s", path);
	sigaction(SIGBUS, &action, NULL);
	for (round = 0; round < rounds; round++) {
		size_t bytes;
		char *log;

		if (ftruncate(fd, PAGES * PAGE))
			err(1, "ftruncate");
		log = map_file(path, PROT_READ, MAP_SHARED, &bytes);
		if (ftruncate(fd, PAGE))
			err(1, "ftruncate");
		sum += view(log);
		munmap(log, bytes);
	}
	printf("%lu accesses after the end, %lu\n", caught, sum);
	return 0;
}
