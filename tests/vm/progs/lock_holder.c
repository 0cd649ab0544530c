// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock_holder protect|fork: two threads, "toucher", read fresh pages in a mapping. Meanwhile a
 * thread "changer" repeatedly holds mmap_lock for long: it protects and unprotects the mapping, or
 * forks. "changer" stops when the others have touched all their pages.
 */
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOUCHERS  2
#define TOUCHED	  100	/* pages, by each */
#define POPULATED 16384 /* pages, which make the calls long */

static long page_bytes;
static char *memory;
static size_t bytes;
static atomic_int touching = TOUCHERS, started;

static void *touch(void *arg)
{
	const char *page = memory + (POPULATED + TOUCHED * (intptr_t)arg) * page_bytes;
	long i;

	prctl(PR_SET_NAME, "toucher");
	while (!atomic_load(&started))
		usleep(1000);
	for (i = 0; i < TOUCHED; i++) {
		(void)*(const volatile char *)(page + i * page_bytes);
		usleep(1000);
	}
	atomic_fetch_sub(&touching, 1);
	return arg;
}

static void protect(void)
{
	if (mprotect(memory, bytes, PROT_READ) || mprotect(memory, bytes, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
}

static void fork_child(void)
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		err(1, "fork");
}

static void *change(void *arg)
{
	void (*const once)(void) = !strcmp(arg, "fork") ? fork_child : protect;

	prctl(PR_SET_NAME, "changer");
	atomic_store(&started, 1);
	while (atomic_load(&touching))
		once();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t touchers[TOUCHERS], changer;
	intptr_t i;

	if (argc != 2 || (strcmp(argv[1], "protect") && strcmp(argv[1], "fork")))
		errx(2, "usage: lock_holder protect|fork");
	page_bytes = sysconf(_SC_PAGESIZE);
	bytes = (POPULATED + TOUCHERS * TOUCHED) * page_bytes;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (i = 0; i < POPULATED; i++)
		memory[i * page_bytes] = 1;
	for (i = 0; i < TOUCHERS; i++)
		pthread_create(&touchers[i], NULL, touch, (void *)i);
	pthread_create(&changer, NULL, change, argv[1]);
	for (i = 0; i < TOUCHERS; i++)
		pthread_join(touchers[i], NULL);
	pthread_join(changer, NULL);
	return 0;
}
