/* SPDX-License-Identifier: GPL-2.0-only */
/* Items for one thread's faults, and the logical faults made from them by explain.c. */
#ifndef PFSTAT_TESTS_SAMPLE_EXPLAIN_H
#define PFSTAT_TESTS_SAMPLE_EXPLAIN_H

#include <string.h>

#include "runner.h"
#include "user/analyze/fault/explain.h"

#define INODE	   77
#define DEV	   9
#define RETRY	   PFSTAT_RESULT_RETRY
#define LOCKED	   PFSTAT_RESULT_LOCKED
#define MAX_FAULTS 64

static struct explained faults[MAX_FAULTS];
static size_t nr_faults;
static struct explain *explain;

static inline int keep(void *context, const struct explained *fault)
{
	(void)context;
	ck_assert_uint_lt(nr_faults, MAX_FAULTS);
	faults[nr_faults++] = *fault;
	return 0;
}

static inline void open_explain(bool have_bpf)
{
	nr_faults = 0;
	explain = explain_new(have_bpf, 4096, keep, NULL);
	ck_assert_ptr_nonnull(explain);
}

static inline void close_explain(void)
{
	const struct explained *fault;
	uint64_t sum;
	size_t i, part;

	ck_assert_int_eq(explain_finish(explain), 0);
	explain_free(explain);
	/* In all cases the parts add up to the duration. */
	for (i = 0; i < nr_faults; i++) {
		fault = &faults[i];
		for (sum = 0, part = 0; part < NR_PARTS; part++)
			sum += fault->parts_ns[part];
		ck_assert_uint_eq(sum, fault->end_ns - fault->start_ns);
	}
}

static inline struct pfstat_record attempt_of(enum pfstat_class class, uint64_t page,
					      uint64_t start_ns, uint64_t end_ns, uint32_t result)
{
	return (struct pfstat_record){
		.op = PFSTAT_OP_FAULT,
		.class = class,
		.pid = 1,
		.tid = 1,
		.inode = INODE,
		.dev = DEV,
		.pgoff = page,
		.address = 0x10000000 + page * 4096,
		.start_ns = start_ns,
		.duration_ns = end_ns - start_ns,
		.result = result,
	};
}

static inline void add_record(const struct pfstat_record *record)
{
	ck_assert_int_eq(explain_record(explain, record), 0);
}

static inline void add_stay(uint32_t tid, uint64_t off_ns, uint64_t woken_ns, uint64_t on_ns)
{
	const struct pfstat_off_cpu stay = {
		.event = {
			.type = PFSTAT_EVENT_OFF_CPU, .size = sizeof(stay), .tid = tid,
			.flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT, .ns = on_ns,
		},
		.off_ns = off_ns, .woken_ns = woken_ns, .state = 2,
	};

	ck_assert_int_eq(explain_event(explain, &stay.event), 0);
}

static inline void add_request(uint32_t tid, uint64_t pgoff, uint32_t pages, uint64_t insert_ns,
			       uint64_t issue_ns, uint64_t complete_ns)
{
	const struct pfstat_block block = {
		.event = {
			.type = PFSTAT_EVENT_BLOCK, .size = sizeof(block), .tid = tid,
			.flags = PFSTAT_BLOCK_FILE, .ns = complete_ns,
		},
		.inode = INODE, .fs_dev = DEV, .pgoff = pgoff, .bytes = pages * 4096,
		.file_bytes = pages * 4096,
		.insert_ns = insert_ns, .issue_ns = issue_ns,
	};

	ck_assert_int_eq(explain_event(explain, &block.event), 0);
}

static inline void add_reclaim(uint64_t from_ns, uint64_t to_ns)
{
	const struct pfstat_reclaim reclaim = {
		.event = {
			.type = PFSTAT_EVENT_RECLAIM,
			.size = sizeof(reclaim),
			.tid = 1,
			.ns = to_ns,
		},
		.start_ns = from_ns,
	};

	ck_assert_int_eq(explain_event(explain, &reclaim.event), 0);
}

static inline void check_parts(const struct explained *fault, const uint64_t *expected)
{
	size_t part;

	for (part = 0; part < NR_PARTS; part++)
		ck_assert_msg(fault->parts_ns[part] == expected[part], "part %zu: %lu, not %lu",
			      part, fault->parts_ns[part], expected[part]);
}

#define CHECK_PARTS(fault, ...) check_parts(fault, (const uint64_t[NR_PARTS]){ __VA_ARGS__ })

static inline struct pfstat_fault fault_of(enum pfstat_fault_kind kind, uint64_t start_ns,
					   uint64_t end_ns, enum pfstat_fault_outcome outcome)
{
	return (struct pfstat_fault){
		.event = {
			.type = PFSTAT_EVENT_FAULT, .size = sizeof(struct pfstat_fault),
			.pid = 1, .tid = 1, .flags = kind, .ns = end_ns,
		},
		.start_ns = start_ns, .address = 0x7000, .outcome = outcome,
	};
}

#endif
