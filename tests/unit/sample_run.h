/* SPDX-License-Identifier: GPL-2.0-only */
/* A run whose figures are known, for the printers' tests. */
#ifndef PFSTAT_TESTS_SAMPLE_RUN_H
#define PFSTAT_TESTS_SAMPLE_RUN_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/report/report.h"

/* The study's random experiment (its figure 1), with a few waits among the disk faults. */
#define SAMPLE_DISK 6000
#define SAMPLE_WAIT 150
#define SAMPLE_READAHEAD 48
#define SAMPLE_RETRIED 6198	/* these three */
#define SAMPLE_LONG 5000
#define SAMPLE_AROUND 101
#define SAMPLE_FAULTS 11299
#define SAMPLE_CALLS 17497

struct sample_run {
	struct report report;
	struct syscall_row syscalls[3];
	struct difference differences[3];
};

static inline void sample_environment(struct environment *e)
{
	*e = (struct environment){
		.kernel = "6.1.0-32-amd64",
		.machine = "QEMU Virtual CPU version 2.5+",
		.cpus = 1,
		.memory_bytes = 1ULL << 30,
		.clocksource = "tsc",
		.virtualization = "qemu",
		.file = "/mnt/disk/demo.bin",
		.file_bytes = 46280704,
		.file_pages = SAMPLE_FAULTS,
		.filesystem = "ext4",
		.device = "nullb0",
		.readahead_bytes = 131072,
		.cache = "cold",
		.pattern = "random",
		.accesses = 46280704,
		.seed = 1,
		.pinned_cpu = 0,
		.fault_around_bytes = 65536,
	};
}

static inline enum pfstat_class sample_class(unsigned int page)
{
	if (page < SAMPLE_DISK)
		return PFSTAT_CLASS_DISK;
	if (page < SAMPLE_DISK + SAMPLE_WAIT)
		return PFSTAT_CLASS_WAIT;
	if (page < SAMPLE_RETRIED)
		return PFSTAT_CLASS_READAHEAD;
	return page < SAMPLE_RETRIED + SAMPLE_LONG ? PFSTAT_CLASS_LONG : PFSTAT_CLASS_AROUND;
}

/*
 * Each retried call takes disk_ns, of which all but 5 µs off the CPU; each
 * retry 300 ns; each other call 6500 ns.
 */
static inline struct summary *sample_summary(uint64_t disk_ns)
{
	struct summary *summary = summary_new();
	struct pfstat_record record;
	struct pfstat_off_cpu stay = { .event = { .type = PFSTAT_EVENT_OFF_CPU, .tid = 1 } };
	uint64_t now = 1;
	unsigned int page;

	for (page = 0; page < SAMPLE_FAULTS; page++, now += 10000) {
		record = (struct pfstat_record){
			.tid = 1, .start_ns = now, .duration_ns = 6500, .address = page * 4096UL,
			.class = sample_class(page), .result = PFSTAT_RESULT_LOCKED,
		};
		if (page < SAMPLE_RETRIED) {
			record.duration_ns = disk_ns;
			record.result = PFSTAT_RESULT_RETRY;
			stay.off_ns = now + 5000;
			stay.event.ns = now + disk_ns;
			ck_assert_int_eq(summary_add_off_cpu(summary, &stay), 0);
			ck_assert_int_eq(summary_add_record(summary, &record), 0);
			record.earlier_ns = now;
			record.start_ns = now += disk_ns + 100;
			record.duration_ns = 300;
			record.class = PFSTAT_CLASS_SHORT;
			record.result = PFSTAT_RESULT_LOCKED;
			record.flags = PFSTAT_FLAG_TRIED;
		}
		ck_assert_int_eq(summary_add_record(summary, &record), 0);
	}
	return summary;
}

static inline void sample_details(struct sample_run *run)
{
	run->syscalls[0] = (struct syscall_row){	/* read */
		.number = 0,
		.value = { .count = 12, .total_ns = 123456, .log2_ns[0] = 2, .log2_ns[14] = 10 },
	};
	run->syscalls[1] = (struct syscall_row){	/* clock_nanosleep */
		.number = 230, .error = EINTR,
		.value = { .count = 1, .total_ns = 1000, .log2_ns[10] = 1 },
	};
	run->syscalls[2] = (struct syscall_row){	/* no such call, no such error */
		.number = 99999, .error = 12345,
		.value = { .count = 1, .total_ns = 1, .log2_ns[39] = 1 },
	};
	run->differences[0] = (struct difference){ "majflt - major", -3, "" };
	run->differences[1] = (struct difference){
		"majflt - disk", 198,
		"the kernel counts a fault as major when its retry carries FAULT_FLAG_TRIED, so "
		"also those that only waited or submitted readahead",
	};
	run->differences[2] = (struct difference){ "minflt - (faults - major)", 0, "" };
	run->report.syscalls = run->syscalls;
	run->report.nr_syscalls = 3;
	run->report.differences = run->differences;
	run->report.nr_differences = 3;
}

static inline void sample_open(struct sample_run *run, uint64_t disk_ns)
{
	memset(run, 0, sizeof(*run));
	sample_environment(&run->report.environment);
	run->report.summary = sample_summary(disk_ns);
	run->report.elapsed_ns = 1234567890;
	run->report.calls = SAMPLE_CALLS;
	run->report.pages_touched = SAMPLE_FAULTS;
	run->report.rusage.ru_minflt = SAMPLE_FAULTS - SAMPLE_RETRIED + 3;
	run->report.rusage.ru_majflt = SAMPLE_RETRIED - 3;
	run->report.rusage.ru_nvcsw = 6150;
	run->report.rusage.ru_utime.tv_sec = 1;
	run->report.rusage.ru_utime.tv_usec = 5;
	run->report.have_bpf = true;
	run->report.off_cpu_count = SAMPLE_RETRIED;
	run->report.repeat = 1;
	run->report.repeats = 1;
	sample_details(run);
}

/* Nothing faulted, nothing is known of the machine, no eBPF. */
static inline void sample_open_empty(struct sample_run *run)
{
	memset(run, 0, sizeof(*run));
	run->report.environment.readahead_bytes = -1;
	run->report.environment.pinned_cpu = -1;
	run->report.summary = summary_new();
	run->report.bpf_missing = "not permitted: run as root";
	run->report.repeat = 1;
	run->report.repeats = 1;
}

static inline void sample_close(struct sample_run *run)
{
	summary_free((struct summary *)run->report.summary);
}

/* To be freed. Not inlined: gcc 12 then sees a dangling pointer where there is none. */
static __attribute__((noinline)) char *sample_print(enum report_format format,
						     const struct report *runs, size_t nr)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_print(out, format, runs, nr), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

#endif
