// SPDX-License-Identifier: GPL-2.0-only
/* Loads fentry_reference.bpf.c for a process. Prints "ready", and the count on SIGINT. */
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fentry_reference.h"
#include "fentry_reference.skel.h"

static int add(void *context, void *data, size_t size)
{
	const struct reference_fault *fault = data;
	unsigned long *seen = context;

	*seen += size >= sizeof(*fault) && fault->duration_ns > 0;
	return 0;
}

static void wait_for_interrupt(const sigset_t *interrupt)
{
	int signal;

	printf("ready\n");
	fflush(stdout);
	sigwait(interrupt, &signal);
}

int main(int argc, char **argv)
{
	unsigned long seen = 0;
	struct ring_buffer *ring;
	struct fentry_reference_bpf *bpf;
	sigset_t interrupt;

	if (argc != 2) {
		fprintf(stderr, "usage: fentry_reference PID\n");
		return 2;
	}
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	bpf = fentry_reference_bpf__open();
	if (!bpf)
		return 1;
	bpf->rodata->target_pid = atoi(argv[1]);
	if (fentry_reference_bpf__load(bpf) || fentry_reference_bpf__attach(bpf))
		return 1;
	ring = ring_buffer__new(bpf_map__fd(bpf->maps.faults), add, &seen, NULL);
	if (!ring)
		return 1;
	wait_for_interrupt(&interrupt);
	ring_buffer__consume(ring);
	printf("%lu\n", seen);
	ring_buffer__free(ring);
	fentry_reference_bpf__destroy(bpf);
	return 0;
}
