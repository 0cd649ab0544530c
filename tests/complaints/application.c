// SPDX-License-Identifier: GPL-2.0-only
/*
 * An application with 8 MiB of code, one function on each page: application CALLS [HOG_MIB]. It
 * calls the functions in random order, as a desktop does. HOG_MIB: a child keeps this much memory
 * in use below the same limit. Without swap the kernel can evict only file pages, among them
 * running code.
 */
#include <signal.h>
#include <sys/wait.h>

#include "complaint.h"

#define FUNCTIONS 2048

void functions(void);
asm(".text\n.balign 4096\n.globl functions\nfunctions:\n.rept 2048\nret\n.balign 4096\n.endr\n");

static void use_memory(size_t bytes, int ready)
{
	volatile char *memory = map_small_pages(bytes);
	size_t at;

	for (;;) {
		for (at = 0; at < bytes; at += PAGE)
			memory[at]++;
		if (ready >= 0 && (write(ready, "", 1) != 1 || close(ready)))
			_exit(1);
		ready = -1;
		usleep(1000);
	}
}

static pid_t start_hog(size_t bytes)
{
	const pid_t parent = getpid();
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		err(1, "cannot make a pipe");
	pid = fork();
	if (pid < 0)
		err(1, "cannot start the child");
	if (!pid) {
		close(ends[0]);
		use_memory(bytes, ends[1]);
	}
	close(ends[1]);
	if (getpid() != parent || read(ends[0], &byte, 1) != 1)
		errx(1, "the child has no memory");
	return pid;
}

int main(int argc, char **argv)
{
	const unsigned long calls = number_of(argc, argv, 1, 3000);
	const unsigned long hog = number_of(argc, argv, 2, 0);
	const pid_t pid = hog ? start_hog(hog * MIB) : 0;
	uint64_t seed = 1;
	unsigned long i;

	for (i = 0; i < calls; i++) {
		const uintptr_t at = next_random(&seed) % FUNCTIONS * PAGE;

		((void (*)(void))((uintptr_t)functions + at))();
	}
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("%lu calls\n", calls);
	return 0;
}
