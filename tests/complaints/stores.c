// SPDX-License-Identifier: GPL-2.0-only
/*
 * One store to each page in memory with different origins: stores new|zero|child|same|private MIB
 * [FILE] new: anonymous memory. zero: memory that was only read before. child: in a child after a
 * fork. same: pages with one content, merged by the kernel (KSM must be on, and the program then
 * waits for a line). private: a private file mapping.
 */
#include <sys/wait.h>

#include "complaint.h"

static unsigned long read_number(const char *path)
{
	unsigned long number = 0;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%lu", &number) != 1)
		err(1, "%s", path);
	fclose(file);
	return number;
}

static void await_merge(char *memory, size_t bytes)
{
	int tries = 600;

	memset(memory, 7, bytes);
	if (madvise(memory, bytes, MADV_MERGEABLE))
		err(1, "MADV_MERGEABLE");
	while (read_number("/sys/kernel/mm/ksm/pages_sharing") < bytes / PAGE * 9 / 10 && tries--)
		usleep(100000);
}

/* The child goes on. The parent ends with it. */
static void continue_in_child(void)
{
	const pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (!pid)
		return;
	waitpid(pid, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	const bool in_child = is_word(argc, argv, 1, "child");
	size_t bytes = number_of(argc, argv, 2, 16) * MIB, at;
	volatile char *memory;
	unsigned long sum = 0;

	if (in_child)
		continue_in_child();
	if (is_word(argc, argv, 1, "private"))
		memory = map_file(word_of(argc, argv, 3, "file"), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE, &bytes);
	else
		memory = map_small_pages(bytes);
	for (at = 0; at < bytes && (in_child || is_word(argc, argv, 1, "zero")); at += PAGE)
		sum += memory[at];
	if (is_word(argc, argv, 1, "same")) {
		await_merge((char *)memory, bytes);
		puts("ready");
		fflush(stdout);
		getchar();
	}
	for (at = 0; at < bytes; at += PAGE)
		memory[at] = (char)(sum + 1);
	printf("%zu stores\n", bytes / PAGE);
	return 0;
}
