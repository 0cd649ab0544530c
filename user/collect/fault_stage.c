// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../correlate/facts.h"
#include "fault_stage.h"

#define STAGE_PAGES 64
#define PAGE 4096
/* The first makes what others find made: pages, an entry in eBPF's maps. */
#define ROUNDS 16

int fault_stage_open(struct fault_stage *stage)
{
	int fd = memfd_create("pfdrive", MFD_CLOEXEC), err = 0;
	void *memory = MAP_FAILED;

	stage->memory = NULL;
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, STAGE_PAGES * PAGE))
		memory = mmap(NULL, STAGE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err = -errno;
	else
		stage->memory = memory;
	close(fd);
	return err;
}

void fault_stage_close(struct fault_stage *stage)
{
	if (stage->memory)
		munmap((void *)stage->memory, STAGE_PAGES * PAGE);
	stage->memory = NULL;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_minflt;
}

/*
 * Reads would be answered by fault-around, many pages at a time. The pages stay in the file when
 * they are unmapped, and are not cleared again.
 */
static uint64_t time_round(const struct fault_stage *stage)
{
	uint64_t faults, start_ns, ns;
	unsigned int i;

	if (madvise((void *)stage->memory, STAGE_PAGES * PAGE, MADV_DONTNEED))
		return FACT_NONE;
	faults = faults_so_far();
	start_ns = now_ns();
	for (i = 0; i < STAGE_PAGES; i++)
		stage->memory[i * PAGE] = 1;
	ns = now_ns() - start_ns;
	faults = faults_so_far() - faults;
	return faults ? ns * 1000 / faults : FACT_NONE;
}

uint64_t fault_stage_time(const struct fault_stage *stage)
{
	uint64_t best = FACT_NONE, ps;
	unsigned int i;

	if (!stage->memory)
		return FACT_NONE;
	time_round(stage);
	for (i = 1; i < ROUNDS; i++) {
		ps = time_round(stage);
		best = ps < best ? ps : best;
	}
	return best;
}
