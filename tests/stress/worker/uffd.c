// SPDX-License-Identifier: GPL-2.0-only
/*
 * userfaultfd: a thread fills anonymous pages from a hooked mapping, which the kernel reads. Also
 * write protection on the hooked mapping itself, if the kernel supports write protection for files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

struct filler {
	const struct file *file;
	page_words map;	   /* file mapping, the source of the pages */
	page_words memory; /* anonymous memory filled on demand */
	int fd, end;
	uint64_t seed;
};

static int open_uffd(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	close(fd);
	return -1;
}

static int watch(int fd, page_words map, size_t pages, uint64_t mode)
{
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)map, .len = pages * PAGE },
		.mode = mode,
	};

	return ioctl(fd, UFFDIO_REGISTER, &range);
}

static void fill_one(const struct filler *filler, uint64_t address)
{
	size_t index = (address - (uintptr_t)filler->memory) / PAGE;
	struct uffdio_copy copy = {
		.dst = address & ~(PAGE - 1),
		.src = (uintptr_t)page_at(filler->map, index),
		.len = PAGE,
	};

	if (random_one_in(2))
		madvise((void *)page_at(filler->map, index), PAGE, MADV_DONTNEED);
	/* EAGAIN: the address space is changing. EEXIST: another fault has filled the page. */
	while (ioctl(filler->fd, UFFDIO_COPY, &copy) && errno == EAGAIN)
		copy.copy = 0;
	if (copy.copy < 0 && copy.copy != -EEXIST)
		wrong("UFFDIO_COPY: %s", strerror(-copy.copy));
}

/* True if a message can be read, false if all pages are filled. */
static bool wait_for_message(const struct filler *filler)
{
	struct pollfd polled[] = { { filler->fd, POLLIN, 0 }, { filler->end, POLLIN, 0 } };

	/* SIGTERM may arrive in this thread, and poll(2) is not restarted automatically. */
	while (poll(polled, 2, -1) < 0)
		if (errno != EINTR)
			need(-1, "poll");
	return !polled[1].revents;
}

static void *fill_missing(void *argument)
{
	struct filler *filler = argument;
	struct uffd_msg message;

	random_seed(filler->seed);
	while (wait_for_message(filler))
		if (read(filler->fd, &message, sizeof(message)) == sizeof(message) &&
		    message.event == UFFD_EVENT_PAGEFAULT)
			fill_one(filler, message.arg.pagefault.address);
	return NULL;
}

static void read_filled(struct filler *filler)
{
	pthread_t thread;
	size_t index;
	int ends[2];

	need(pipe(ends), "pipe");
	filler->end = ends[0];
	if (pthread_create(&thread, NULL, fill_missing, filler))
		wrong("cannot make a thread");
	for (index = 0; index < filler->file->pages; index += 1 + random_below(4))
		check_page(filler->file, page_at(filler->memory, index), index);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
}

static void fill_from_map(const struct file *file, page_words map)
{
	struct filler filler = { .file = file, .map = map, .seed = random_below(UINT64_MAX) };

	filler.fd = open_uffd(0);
	if (filler.fd < 0) {
		not_available("userfaultfd");
		return;
	}
	filler.memory = need_map(mmap(NULL, file->pages * PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
				 "mmap");
	need(watch(filler.fd, filler.memory, file->pages, UFFDIO_REGISTER_MODE_MISSING),
	     "UFFDIO_REGISTER");
	read_filled(&filler);
	close(filler.fd);
	need(munmap((void *)filler.memory, file->pages * PAGE), "munmap");
}

#ifdef UFFD_FEATURE_WP_ASYNC
static void protect_map(const struct file *file, page_words map)
{
	struct uffdio_writeprotect protect = {
		.range = { .start = (uintptr_t)map, .len = file->pages * PAGE },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = open_uffd(UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED);
	size_t index;

	if (fd < 0 || watch(fd, map, file->pages, UFFDIO_REGISTER_MODE_WP)) {
		not_available("userfaultfd's write protection of files");
		goto close_fd;
	}
	need(ioctl(fd, UFFDIO_WRITEPROTECT, &protect), "UFFDIO_WRITEPROTECT");
	for (index = 0; index < file->pages; index += 1 + random_below(4)) {
		page_at(map, index)[0] = pattern(file, index) | random_below(1 << 16);
		check_page(file, page_at(map, index), index);
	}
close_fd:
	if (fd >= 0)
		close(fd);
}
#else
static void protect_map(const struct file *file, page_words map)
{
	(void)file;
	(void)map;
	not_available("userfaultfd's write protection of files");
}
#endif

void job_uffd(const struct file *file)
{
	page_words map = map_file(file, PROT_READ | PROT_WRITE, MAP_SHARED);

	fill_from_map(file, map);
	protect_map(file, map);
	need(munmap((void *)map, file->pages * PAGE), "munmap");
}
