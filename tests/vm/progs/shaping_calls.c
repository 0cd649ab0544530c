// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that shape mappings, each from a separate function, a known number of times. The program
 * reads the file in order with MADV_RANDOM.
 *
 *	shaping_calls FILE
 *
 * It prints nothing. The functions are not inlined, and do something after the call, so that the
 * compiler does not replace the call by a jump.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLER static __attribute__((noinline)) void

#define PAGE  ((size_t)sysconf(_SC_PAGESIZE))
#define BYTES (256 * PAGE)

static volatile int sum;
static const volatile char *data;
static int fd;

CALLER maps_the_file(void)
{
	data = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	sum++;
}

CALLER advises_random(void)
{
	sum += madvise((void *)data, BYTES, MADV_RANDOM);
}

CALLER reads_in_order(void)
{
	unsigned long offset;

	for (offset = 0; offset < BYTES; offset += PAGE)
		sum += data[offset];
}

CALLER advises_wrongly(void)
{
	sum += madvise((void *)(data + 1), PAGE, MADV_RANDOM);
}

CALLER advises_the_file(void)
{
	sum += posix_fadvise(fd, 0, 2 * PAGE, POSIX_FADV_SEQUENTIAL);
}

CALLER locks(void)
{
	sum += mlock((void *)data, PAGE);
}

CALLER locks_on_fault(void)
{
	sum += mlock2((void *)data, 3 * PAGE, MLOCK_ONFAULT);
}

CALLER locks_all(void)
{
	sum += mlockall(MCL_CURRENT);
}

CALLER forks(void)
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	int i;

	fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0)
		return 2;
	maps_the_file();
	if (data == MAP_FAILED)
		return 1;
	for (i = 0; i < 3; i++)
		advises_random();
	reads_in_order();
	for (i = 0; i < 2; i++)
		advises_wrongly();
	advises_the_file();
	for (i = 0; i < 4; i++)
		locks();
	locks_on_fault();
	locks_all();
	for (i = 0; i < 5; i++)
		forks();
	return 0;
}
