// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers pass batches to a trainer in shared memory: shm_batches FOLDER BATCHES [reuse]. Each
 * batch is a new file, so each page in the file is new, and also maps pages in the trainer. reuse:
 * one file for all. If the folder is full, the worker dies of SIGBUS.
 */
#include <sys/wait.h>

#include "complaint.h"

#define BATCH (2 * MIB)

static char *map_batch(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT, 0600);
	size_t bytes;

	if (fd < 0 || ftruncate(fd, BATCH) || close(fd))
		err(1, "%s", path);
	return map_file(path, PROT_READ | PROT_WRITE, MAP_SHARED, &bytes);
}

static __attribute__((noinline)) void load(char *batch, unsigned long number)
{
	memset(batch, (int)number, BATCH);
}

static void work(const char *folder, unsigned long batches, bool reuse)
{
	char path[256], *batch = NULL;
	unsigned long i;

	for (i = 0; i < batches; i++) {
		snprintf(path, sizeof(path), "%s/batch%lu", folder, i);
		if (!batch || !reuse)
			batch = map_batch(path);
		load(batch, i);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const unsigned long batches = number_of(argc, argv, 2, 8);
	int status;

	if (!fork())
		work(word_of(argc, argv, 1, "/dev/shm"), batches, is_word(argc, argv, 3, "reuse"));
	wait(&status);
	printf("the worker %s\n", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "is done");
	return 0;
}
