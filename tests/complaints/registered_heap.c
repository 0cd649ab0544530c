// SPDX-License-Identifier: GPL-2.0-only
/*
 * A runtime registers the heap with a device at start: registered_heap MIB. Here the device is
 * io_uring. The call pins all pages, so the kernel allocates and clears every page during the call,
 * although the program touches few.
 */
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "complaint.h"

static __attribute__((noinline)) void register_heap(int ring, char *heap, size_t bytes)
{
	struct iovec whole = { heap, bytes };

	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &whole, 1))
		err(1, "io_uring_register");
}

int main(int argc, char **argv)
{
	const size_t bytes = number_of(argc, argv, 1, 100) * MIB;
	struct io_uring_params params = { 0 };
	const int ring = syscall(SYS_io_uring_setup, 8, &params);
	char *heap = map_small_pages(bytes);

	if (ring < 0)
		err(1, "io_uring_setup");
	register_heap(ring, heap, bytes);
	heap[0] = 1;
	puts("started");
	return 0;
}
