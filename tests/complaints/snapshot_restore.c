// SPDX-License-Identifier: GPL-2.0-only
/*
 * A monitor restores a virtual machine on demand: snapshot_restore CPUS PAGES_AT_ONCE. The "vcpu"
 * threads touch guest memory. One userfaultfd handler fetches each missing page (300 us) and
 * installs it with UFFDIO_COPY. All threads wait for the one handler. More pages at once need fewer
 * waits.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "complaint.h"

#define PAGES 1024UL

static char *guest;
static int uffd;
static unsigned long nr_cpus, at_once;

static void fetch(void)
{
	const struct timespec latency = { .tv_nsec = 300000 };

	nanosleep(&latency, NULL);
}

/* A page that is already there ends the ioctl with EEXIST, so each page gets a separate call. */
static void install(const char *snapshot, unsigned long first)
{
	unsigned long page;

	for (page = first; page < first + at_once; page++) {
		struct uffdio_copy copy = { .dst = (uintptr_t)guest + page * PAGE,
					    .src = (uintptr_t)snapshot,
					    .len = PAGE };

		if (ioctl(uffd, UFFDIO_COPY, &copy) && errno != EEXIST)
			err(1, "UFFDIO_COPY");
	}
}

static void *handle(void *arg)
{
	static char snapshot[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_msg message;

	prctl(PR_SET_NAME, "uffd-handler");
	while (read(uffd, &message, sizeof(message)) == sizeof(message)) {
		const uintptr_t address = message.arg.pagefault.address;
		const unsigned long page = (address - (uintptr_t)guest) / PAGE;

		fetch();
		install(snapshot, page / at_once * at_once);
	}
	return arg;
}

static void *run_cpu(void *arg)
{
	const unsigned long cpu = (uintptr_t)arg;
	volatile char *memory = guest;
	uintptr_t sum = 0;
	unsigned long i;

	prctl(PR_SET_NAME, "vcpu");
	for (i = cpu; i < PAGES; i += nr_cpus)
		sum += memory[i * 793 % PAGES * PAGE];
	return (void *)sum;
}

int main(int argc, char **argv)
{
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	pthread_t threads[64], handler;
	unsigned long i;

	nr_cpus = number_of(argc, argv, 1, 4);
	at_once = number_of(argc, argv, 2, 1);
	if (nr_cpus > 64 || !at_once || PAGES % at_once)
		errx(2, "at most 64 CPUs, and a divisor of %lu pages", PAGES);
	guest = map_small_pages(PAGES * PAGE);
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)guest;
	range.range.len = PAGES * PAGE;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		err(1, "userfaultfd");
	pthread_create(&handler, NULL, handle, NULL);
	for (i = 0; i < nr_cpus; i++)
		pthread_create(&threads[i], NULL, run_cpu, (void *)(uintptr_t)i);
	for (i = 0; i < nr_cpus; i++)
		pthread_join(threads[i], NULL);
	puts("restored");
	return 0;
}
