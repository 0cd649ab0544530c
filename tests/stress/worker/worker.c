// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker JOB FILE SEED: creates FILE, prints "ready", and runs rounds of JOB until SIGTERM. Then it
 * prints the number of rounds and exits with 0. Any violation makes it print a line and exit with
 * 1. worker list: prints the jobs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker.h"

static const struct job {
	const char *name;
	void (*round)(const struct file *file);
	size_t pages;
} jobs[] = {
	{ "threads", job_threads, 256 },   { "write", job_write, 128 },
	{ "reshape", job_reshape, 128 },   { "protect", job_protect, 128 },
	{ "unmap", job_unmap, 256 },	   { "advise", job_advise, 256 },
	{ "populate", job_populate, 128 }, { "fork", job_fork, 128 },
	{ "exec", job_exec, 128 },	   { "kill", job_kill, 256 },
	{ "ptrace", job_ptrace, 128 },	   { "remote", job_remote, 128 },
	{ "truncate", job_truncate, 128 }, { "direct", job_direct, 256 },
	{ "uffd", job_uffd, 128 },	   { "swap", job_swap, 256 },
};

#define NR_JOBS (sizeof(jobs) / sizeof(jobs[0]))

static volatile sig_atomic_t told_to_end;

static void on_sigterm(int number)
{
	(void)number;
	told_to_end = 1;
}

static int list_jobs(void)
{
	size_t i;

	for (i = 0; i < NR_JOBS; i++)
		puts(jobs[i].name);
	return 0;
}

static int run(size_t number, const char *path, uint64_t seed)
{
	/* SA_RESTART: the signal does not disturb a round. */
	struct sigaction action = { .sa_handler = on_sigterm, .sa_flags = SA_RESTART };
	struct file file;
	unsigned long rounds;

	sigaction(SIGTERM, &action, NULL);
	random_seed(seed + number);
	file = file_make(path, number + 1, jobs[number].pages);
	puts("ready");
	fflush(stdout);
	for (rounds = 0; !told_to_end; rounds++)
		jobs[number].round(&file);
	printf("%lu rounds\n", rounds);
	return 0;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "verify"))
		return verify_in_new_image(argc, argv);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list_jobs();
	for (i = 0; i < NR_JOBS && argc == 4; i++)
		if (!strcmp(argv[1], jobs[i].name))
			return run(i, argv[2], strtoull(argv[3], NULL, 10));
	fprintf(stderr, "usage: worker JOB FILE SEED, or worker list\n");
	return 2;
}
