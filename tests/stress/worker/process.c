// SPDX-License-Identifier: GPL-2.0-only
/* Processes starting, exiting, accessing each other's memory, and being killed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"

#define TOUCHES 64

static void touch_some(const struct file *file, page_words map, unsigned int times)
{
	size_t index;

	while (times--) {
		index = random_below(file->pages);
		check_page(file, page_at(map, index), index);
	}
}

static void check_own(page_words own, size_t index, uint64_t value)
{
	if (page_at(own, index)[0] != value)
		wrong("private page %zu is not this process's own", index);
}

static void live_on(const struct file *file, page_words map, page_words own, unsigned int depth)
{
	size_t index;
	pid_t child;

	touch_some(file, map, TOUCHES);
	for (index = 0; index < file->pages; index += 8) {
		check_own(own, index, ~0UL - depth);
		page_at(own, index)[0] = ~0UL - depth - 1;
	}
	if (depth == 2)
		return;
	child = fork_child();
	if (!child) {
		live_on(file, map, own, depth + 1);
		_exit(0);
	}
	touch_some(file, map, TOUCHES);
	join_child(child);
	for (index = 0; index < file->pages; index += 8)
		check_own(own, index, ~0UL - depth - 1);
}

/* Three generations. Each has its own copy of its stores. */
void job_fork(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	page_words own = map_file(file, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	size_t index;

	for (index = 0; index < file->pages; index += 8)
		page_at(own, index)[0] = ~0UL;
	live_on(file, map, own, 0);
	need(munmap((void *)own, file->pages * PAGE), "munmap");
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

int verify_in_new_image(int argc, char **argv)
{
	struct file file;

	if (argc != 6)
		return 2;
	random_seed(strtoull(argv[5], NULL, 10));
	file = file_open(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
	touch_some(&file, map_file(&file, PROT_READ, MAP_SHARED), TOUCHES);
	return 0;
}

void job_exec(const struct file *file)
{
	char id[8], pages[24], seed[24];
	char *const arguments[] = { "worker", "verify", (char *)file->path, id, pages, seed, NULL };
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	pid_t child;
	int err;

	snprintf(id, sizeof(id), "%u", file->id);
	snprintf(pages, sizeof(pages), "%zu", file->pages);
	snprintf(seed, sizeof(seed), "%zu", (size_t)random_below(1 << 30));
	touch_some(file, map, TOUCHES);
	err = posix_spawn(&child, SELF, NULL, NULL, arguments, environ);
	if (err)
		wrong("posix_spawn: %s", strerror(err));
	touch_some(file, map, TOUCHES);
	join_child(child);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

struct victim {
	const struct file *file;
	page_words map;
	uint64_t seed;
};

static void *fault_for_ever(void *argument)
{
	struct victim *victim = argument;

	random_seed(victim->seed);
	for (;;) {
		touch_some(victim->file, victim->map, TOUCHES);
		madvise((void *)victim->map, victim->file->pages * PAGE, MADV_DONTNEED);
	}
	return NULL;
}

static void run_victim(const struct file *file)
{
	struct victim victims[3];
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		victims[i] = (struct victim){ file, map_file(file, PROT_READ, MAP_SHARED), i };
		if (pthread_create(&thread, NULL, fault_for_ever, &victims[i]))
			wrong("cannot make a thread");
	}
	fault_for_ever(&victims[0]);
}

/* The child is killed during faults in several threads. */
void job_kill(const struct file *file)
{
	pid_t child = fork_child();

	if (!child)
		run_victim(file);
	usleep(random_below(30000));
	end_child(child);
}

static void sleep_in(const struct file *file, page_words map, int end)
{
	char byte;

	touch_some(file, map, TOUCHES / 4);
	read(end, &byte, 1);
	_exit(0);
}

/* A sleeping child with both mappings at the same addresses as in the parent. */
static pid_t start_sleeper(const struct file *file, page_words map, int *end)
{
	int ends[2];
	pid_t child;

	need(pipe(ends), "pipe");
	child = fork_child();
	if (!child) {
		close(ends[1]);
		sleep_in(file, map, ends[0]);
	}
	close(ends[0]);
	*end = ends[1];
	return child;
}

static void peek(pid_t child, const struct file *file, page_words map)
{
	size_t index = random_below(file->pages);
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, child, page_at(map, index) + random_below(WORDS), NULL);
	if (errno)
		wrong("PTRACE_PEEKDATA: %s", strerror(errno));
	check_word(file, word, index);
}

/* As debuggers set breakpoints: a write to a private mapping that is not writable. */
static void poke(pid_t child, const struct file *file, page_words own)
{
	page_words at = page_at(own, random_below(file->pages)) + random_below(WORDS);
	long value = random_below(1UL << 40), word;

	need(ptrace(PTRACE_POKEDATA, child, at, value), "PTRACE_POKEDATA");
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, child, at, NULL);
	if (errno || word != value)
		wrong("a word poked is %#lx instead of %#lx", word, value);
}

static void look_into(pid_t child, const struct file *file, page_words map)
{
	size_t index = random_below(file->pages);
	char path[32];
	uint64_t word;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", child);
	mem = need(open(path, O_RDONLY | O_CLOEXEC), path);
	need(pread(mem, &word, sizeof(word), (uintptr_t)page_at(map, index)), "pread");
	check_word(file, word, index);
	close(mem);
}

void job_ptrace(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	page_words own = map_file(file, PROT_READ, MAP_PRIVATE);
	int end, status, i;
	pid_t child = start_sleeper(file, map, &end);

	need(ptrace(PTRACE_SEIZE, child, NULL, NULL), "PTRACE_SEIZE");
	need(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), "PTRACE_INTERRUPT");
	need(waitpid(child, &status, 0), "waitpid");
	if (!WIFSTOPPED(status))
		wrong("a child that is traced did not stop");
	for (i = 0; i < TOUCHES; i++) {
		peek(child, file, map);
		poke(child, file, own);
		look_into(child, file, map);
	}
	need(ptrace(PTRACE_DETACH, child, NULL, NULL), "PTRACE_DETACH");
	close(end);
	join_child(child);
	need(munmap((void *)own, file->pages * PAGE), "munmap");
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}

#define SCATTERED 16

/* Copies scattered pages from the child's mapping into a mapping that is also hooked here. */
static void read_remote(pid_t child, const struct file *file, page_words map, page_words own)
{
	struct iovec remote[SCATTERED], local = {
		.iov_base = (void *)own,
		.iov_len = SCATTERED * PAGE,
	};
	size_t indices[SCATTERED], i;

	for (i = 0; i < SCATTERED; i++) {
		indices[i] = random_below(file->pages);
		remote[i].iov_base = (void *)page_at(map, indices[i]);
		remote[i].iov_len = PAGE;
	}
	if (need(process_vm_readv(child, &local, 1, remote, SCATTERED, 0), "process_vm_readv") !=
	    (ssize_t)(SCATTERED * PAGE))
		wrong("process_vm_readv read a part");
	for (i = 0; i < SCATTERED; i++)
		check_page(file, page_at(own, i), indices[i]);
}

static void write_remote(pid_t child, const struct file *file, page_words own)
{
	size_t index = SCATTERED + random_below(file->pages - SCATTERED);
	uint64_t word = random_below(1UL << 40), back = 0;
	struct iovec remote = {
		.iov_base = (void *)page_at(own, index),
		.iov_len = sizeof(word),
	};
	struct iovec local = { .iov_base = &word, .iov_len = sizeof(word) };
	struct iovec again = { .iov_base = &back, .iov_len = sizeof(back) };

	need(process_vm_writev(child, &local, 1, &remote, 1, 0), "process_vm_writev");
	need(process_vm_readv(child, &again, 1, &remote, 1, 0), "process_vm_readv");
	if (back != word)
		wrong("process_vm_writev wrote %#lx, %#lx was there", (long)word, (long)back);
	check_page(file, page_at(own, index), index); /* this process has another copy */
}

void job_remote(const struct file *file)
{
	page_words map = map_file(file, PROT_READ, MAP_SHARED);
	page_words own = map_file(file, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int end, i;
	pid_t child = start_sleeper(file, map, &end);

	for (i = 0; i < TOUCHES; i++) {
		read_remote(child, file, map, own);
		write_remote(child, file, own);
	}
	close(end);
	join_child(child);
	need(munmap((void *)own, file->pages * PAGE), "munmap");
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}
