// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruments load the programs together with all others and name the targets, which both have
 * in common. This source shares the rings of records with the programs, and restricts them to
 * files. It cannot disable fault-around for one target.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/events.h"
#include "collect/bpf_records.h"
#include "collect/fault_source_bpf.h"
#include "model/counters.h"
#include "util/page_size.h"
#include "util/why.h"

struct bpf_source {
	struct fault_source source;
	struct events *events;
	struct bpf_records records;
	uint64_t inside_ps;
	int only_fd; /* -1: any file */
};

static struct bpf_source *bpf_source_of(const struct fault_source *source)
{
	return (struct bpf_source *)source;
}

static int bpf_source_open(struct fault_source **opened, const struct fault_source_options *options,
			   struct why *why)
{
	struct bpf_source *bpf;

	if (!options->fault_around)
		return why_fail(why, -EOPNOTSUPP,
				"eBPF cannot disable fault-around for one program; load the pfstat "
				"module, or write %" PRIu64
				" to /sys/kernel/debug/fault_around_bytes for all programs",
				page_size());
	bpf = calloc(1, sizeof(*bpf));
	if (!bpf)
		return why_fail(why, -ENOMEM, "out of memory");
	bpf->source.ops = &fault_source_bpf;
	bpf->only_fd = options->only_fd;
	*opened = &bpf->source;
	return 0;
}

static void bpf_source_close(struct fault_source *source)
{
	struct bpf_source *bpf = bpf_source_of(source);

	bpf_records_close(&bpf->records);
	free(source->rings);
	free(bpf);
}

/* The kernel knows an overlay file by the file below it, so a mapping of the file is looked up. */
static int bpf_source_add_file(const struct bpf_source *bpf, int fd)
{
	const size_t page = page_size();
	void *mapping = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	struct pfstat_handler_query query = { .address = (uintptr_t)mapping };
	int err;

	if (mapping == MAP_FAILED)
		return -errno;
	err = events_find_mapping(bpf->events, &query);
	munmap(mapping, page);
	return err ? err : bpf_records_add_file(events_object(bpf->events), query.inode, query.dev);
}

static int bpf_source_use_events(struct fault_source *source, struct events *events,
				 struct why *why)
{
	struct bpf_source *bpf = bpf_source_of(source);
	int err;

	bpf->events = events;
	err = bpf_records_open(&bpf->records, events_object(events));
	if (err)
		return why_fail(why, err, "cannot map the record rings: %s", strerror(-err));
	return 0;
}

static int bpf_source_explain(int err, const char *what, struct why *why)
{
	if (err)
		return why_fail(why, err, "eBPF cannot watch %s: %s", what, strerror(-err));
	return 0;
}

static int bpf_source_hook_file(struct fault_source *source, int fd, const char *path,
				struct why *why)
{
	const struct bpf_source *bpf = bpf_source_of(source);

	bpf_records_name_files(events_object(bpf->events));
	return bpf_source_explain(bpf_source_add_file(bpf, fd), path, why);
}

static int bpf_source_hook_nothing(struct fault_source *source, struct why *why)
{
	(void)why;
	bpf_records_name_files(events_object(bpf_source_of(source)->events));
	return 0;
}

/* The instruments name the process for all programs. */
static int bpf_source_follow(struct fault_source *source, pid_t pid, bool existing, struct why *why)
{
	struct bpf_source *bpf = bpf_source_of(source);
	int err = 0;

	(void)pid;
	(void)existing;
	if (bpf->only_fd < 0)
		return 0;
	bpf_records_name_files(events_object(bpf->events));
	err = bpf_source_add_file(bpf, bpf->only_fd);
	bpf->only_fd = -1;
	return bpf_source_explain(err, "the file of --file", why);
}

/* Calls on which the programs' cost was measured are dropped. */
static int bpf_source_start(struct fault_source *source)
{
	struct bpf_source *bpf = bpf_source_of(source);
	unsigned int i;

	source->rings = calloc(bpf->records.nr_rings, sizeof(*source->rings));
	if (!source->rings)
		return -ENOMEM;
	bpf_records_forget(&bpf->records);
	bpf->inside_ps = bpf_records_inside_ps(events_object(bpf->events));
	source->nr_rings = bpf->records.nr_rings;
	for (i = 0; i < source->nr_rings; i++)
		bpf_records_ring(&bpf->records, i, &source->rings[i]);
	return 0;
}

/* No VMA is hooked: the programs decide for each mapping. */
static int bpf_source_wrapper(const struct fault_source *source, uint64_t *address)
{
	(void)source;
	*address = 0;
	return 0;
}

/* The instruments stop all programs at once. */
static int bpf_source_stop(struct fault_source *source)
{
	(void)source;
	return 0;
}

/* The cost of a call is part of eBPF's cost. */
static int bpf_source_counters(const struct fault_source *source,
			       struct fault_source_counters *counters)
{
	const struct bpf_source *bpf = bpf_source_of(source);
	struct bpf_record_counts counts;

	bpf_records_count(&bpf->records, &counts);
	*counters = (struct fault_source_counters){
		.call_cost_ps = COUNT_NA,
		.inside_ps = bpf->inside_ps,
		.calls = counts.calls,
		.lost = counts.lost,
		.events = counts.faults,
		.events_lost = counts.faults_lost,
	};
	return 0;
}

const struct fault_source_ops fault_source_bpf = {
	.name = "eBPF",
	.word = "ebpf",
	.use_events = bpf_source_use_events,
	.open = bpf_source_open,
	.hook_file = bpf_source_hook_file,
	.hook_nothing = bpf_source_hook_nothing,
	.follow = bpf_source_follow,
	.start = bpf_source_start,
	.wrapper = bpf_source_wrapper,
	.stop = bpf_source_stop,
	.counters = bpf_source_counters,
	.close = bpf_source_close,
};
