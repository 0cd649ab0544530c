/* SPDX-License-Identifier: GPL-2.0-only */
/* A run with known figures, for the printer tests. */
#ifndef PFSTAT_TESTS_SAMPLE_RUN_H
#define PFSTAT_TESTS_SAMPLE_RUN_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample_calls.h"
#include "user/print/print_report.h"
#include "user/report/report.h"

/* The page-fault study's random experiment (figure 1), with a few waits. */
#define SAMPLE_DISK	 6000
#define SAMPLE_WAIT	 150
#define SAMPLE_READAHEAD 48
#define SAMPLE_RETRIED	 6198 /* the three counts above */
#define SAMPLE_LONG	 5000
#define SAMPLE_AROUND	 101
#define SAMPLE_FAULTS	 11299
#define SAMPLE_CALLS	 17497

struct sample_run {
	struct report report;
	struct explain *calls; /* report.summary is theirs */
	struct syscall_row syscalls[3];
	struct group groups[3];
};

static inline void sample_environment(struct environment *e)
{
	*e = (struct environment){
		.kind = "drive",
		.version = "0.1",
		.kernel = "6.1.0-32-amd64",
		.architecture = "x86_64",
		.machine = "QEMU Virtual CPU version 2.5+",
		.cpus = 1,
		.memory_bytes = 1ULL << 30,
		.page_bytes = 4096,
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
 * Each retried call takes disk_ns and is off the CPU for all but 5 µs. Each retry takes 300 ns and
 * each other call 6500 ns.
 */
static inline struct explain *sample_calls(uint64_t disk_ns)
{
	struct explain *calls = calls_new();
	struct pfstat_record record;
	struct pfstat_off_cpu stay = { .event = { .type = PFSTAT_EVENT_OFF_CPU, .tid = 1 } };
	uint64_t now = 1;
	unsigned int page;

	for (page = 0; page < SAMPLE_FAULTS; page++, now += 10000) {
		record = (struct pfstat_record){
			.tid = 1,
			.start_ns = now,
			.duration_ns = 6500,
			.address = page * 4096UL,
			.class = sample_class(page),
			.result = PFSTAT_RESULT_LOCKED,
		};
		if (page < SAMPLE_RETRIED) {
			record.duration_ns = disk_ns;
			record.result = PFSTAT_RESULT_RETRY;
			stay.off_ns = now + 5000;
			stay.event.ns = now + disk_ns;
			ck_assert_int_eq(explain_event(calls, &stay.event), 0);
			ck_assert_int_eq(explain_record(calls, &record), 0);
			record.earlier_ns = now;
			record.start_ns = now += disk_ns + 100;
			record.duration_ns = 300;
			record.class = PFSTAT_CLASS_SHORT;
			record.result = PFSTAT_RESULT_LOCKED;
			record.flags = PFSTAT_FLAG_TRIED;
		}
		ck_assert_int_eq(explain_record(calls, &record), 0);
	}
	return calls;
}

static inline void sample_details(struct sample_run *run)
{
	run->syscalls[0] = (struct syscall_row){
		/* read */
		.number = 0,
		.value = { .count = 12, .total_ns = 123456, .log2_ns[0] = 2, .log2_ns[14] = 10 },
	};
	run->syscalls[1] = (struct syscall_row){
		/* clock_nanosleep */
		.number = 230,
		.error = EINTR,
		.value = { .count = 1, .total_ns = 1000, .log2_ns[10] = 1 },
	};
	run->syscalls[2] = (struct syscall_row){
		/* no such system call, no such error number */
		.number = 99999,
		.error = 12345,
		.value = { .count = 1, .total_ns = 1, .log2_ns[39] = 1 },
	};
	run->report.syscalls.rows = run->syscalls;
	run->report.syscalls.nr = 3;
}

/* Gives each fault in the class the same duration. The parts add up to it. */
static inline void sample_faults(struct report *report, enum fault_class class, uint64_t count,
				 bool major, const uint64_t parts_ns[NR_PARTS])
{
	struct fault_figures *faults = &report->faults.classes[class], *all = &report->faults.all;
	uint64_t whole_ns = 0;
	enum part part;

	faults->count = count;
	faults->pages = count;
	faults->major = major ? count : 0;
	for (part = 0; part < NR_PARTS; part++) {
		faults->parts[part] = (struct part_figures){
			.faults = parts_ns[part] ? count : 0,
			.total_ns = count * parts_ns[part],
			.p50_ns = parts_ns[part],
			.p99_ns = parts_ns[part],
			.max_ns = parts_ns[part],
			.p999_ns = count < P999_LEAST ? COUNT_NA : parts_ns[part],
			.p9999_ns = count < P9999_LEAST ? COUNT_NA : parts_ns[part],
		};
		all->parts[part].faults += faults->parts[part].faults;
		all->parts[part].total_ns += count * parts_ns[part];
		all->parts[part].p99_ns = 1;
		all->parts[part].max_ns = 1;
		whole_ns += parts_ns[part];
	}
	faults->whole = (struct part_figures){
		.faults = count,
		.total_ns = count * whole_ns,
		.p50_ns = whole_ns,
		.p99_ns = whole_ns,
		.max_ns = whole_ns,
		.p999_ns = count < P999_LEAST ? COUNT_NA : whole_ns,
		.p9999_ns = count < P9999_LEAST ? COUNT_NA : whole_ns,
	};
	all->count += count;
	all->whole.faults += count;
	all->whole.total_ns += count * whole_ns;
	all->whole.p50_ns = whole_ns;
	all->whole.p99_ns = whole_ns;
	all->whole.max_ns = whole_ns;
	all->whole.p999_ns = all->count < P999_LEAST ? COUNT_NA : whole_ns;
	all->whole.p9999_ns = all->count < P9999_LEAST ? COUNT_NA : whole_ns;
	all->pages += count;
	all->major += faults->major;
}

static inline void sample_parts(struct report *report)
{
	static const uint64_t read[NR_PARTS] = {
		[PART_CPU_BEFORE] = 5000, [PART_QUEUE] = 100,	  [PART_DEVICE] = 130000,
		[PART_RUNQUEUE] = 15000,  [PART_CPU_AFTER] = 300,
	};
	static const uint64_t wait[NR_PARTS] = {
		[PART_CPU_BEFORE] = 5000,
		[PART_FOREIGN] = 145000,
		[PART_CPU_AFTER] = 400,
	};
	static const uint64_t cached[NR_PARTS] = { [PART_CPU_BEFORE] = 6500 };
	static const uint64_t anon[NR_PARTS] = { [PART_CPU_BEFORE] = 600, [PART_RESIDUE] = 400 };

	report->faults.parts_known = true;
	report->faults.has_spans = true;
	sample_faults(report, FAULT_DISK, SAMPLE_DISK, true, read);
	sample_faults(report, FAULT_WAIT, SAMPLE_WAIT, true, wait);
	sample_faults(report, FAULT_READAHEAD, SAMPLE_READAHEAD, true, read);
	sample_faults(report, FAULT_LONG, SAMPLE_LONG, false, cached);
	sample_faults(report, FAULT_AROUND, SAMPLE_AROUND, false, cached);
	sample_faults(report, FAULT_ANON, 20, false, anon);
	report->blocks = (struct block_figures){
		.reads = 6048,
		.bytes_read = 6048 * 4096,
		.writes = 2,
		.bytes_written = 1 << 20,
		.queue = { 6048, 6048 * 100, 100, 200, 300, 250, COUNT_NA },
		.device = { 6048, 6048ULL * 130000, 130000, 140000, 150000, 145000, COUNT_NA },
	};
	report->pages.readahead = (struct readahead_figures){
		.read = 8000,
		.mapped = 7000,
		.evicted_unused = 100,
		.idle = 900,
	};
}

static inline struct ledger_difference *sample_difference(struct ledger *ledger, const char *left,
							  const char *right, int64_t amount)
{
	struct ledger_difference *difference = &ledger->differences[ledger->nr_differences++];

	difference->left = left;
	difference->right = right;
	difference->amount = amount;
	difference->known = true;
	return difference;
}

static inline void sample_reason(struct ledger_difference *difference, const char *name,
				 int64_t amount)
{
	difference->reasons[difference->nr_reasons].name = name;
	difference->reasons[difference->nr_reasons++].amount = amount;
}

static inline void sample_ledger(struct ledger *ledger)
{
	struct ledger_difference *difference;

	ledger->counts[0] = (struct ledger_count){ "wrapper calls", "module", SAMPLE_CALLS };
	ledger->counts[1] = (struct ledger_count){ "logical faults", "module", SAMPLE_FAULTS };
	ledger->counts[2] = (struct ledger_count){ "page-faults", "perf", COUNT_NA };
	ledger->nr_counts = 3;
	difference = sample_difference(ledger, "wrapper calls", "logical faults",
				       SAMPLE_CALLS - SAMPLE_FAULTS);
	sample_reason(difference, "calls that the kernel retried", SAMPLE_RETRIED + 2);
	sample_reason(difference, "an error that was counted twice, for the sake of a long line",
		      -2);
	sample_difference(ledger, "handle_mm_fault() minor, hooked", "logical faults, minor", 0);
	sample_difference(ledger, "page-faults", "minor-faults + major-faults", 0)->known = false;
}

static const struct filesystem sample_disk = { .type = "ext4", .source = "/dev/vda1" };
static const struct filesystem sample_server = { .type = "nfs4", .source = "nas:/a" };

static inline void sample_groups(struct sample_run *run, enum group_by by)
{
	run->groups[0] = (struct group){
		.name = "/mnt/disk/demo.bin",
		.inode = 12,
		.dev = 8 << 20 | 1,
		.filesystem = &sample_disk,
		.pid = 77,
		.address = 0x7f0000000000,
		.faults = 6000,
		.major = 6000,
		.total_ns = 900000000,
		.max_ns = 160000,
		.classes[PFSTAT_CLASS_DISK] = 6000,
		.parts_ns = { [PART_CPU_BEFORE] = 90000000, [PART_DEVICE] = 810000000 },
		.reads = {
			.total_ns = 900000000,
			.waited_ns = 810000000,
			.requests = 6000,
			.bytes = 6000 * 4096,
		},
	};
	run->groups[1] = (struct group){
		.name = "(anonymous memory)",
		.tid = 78,
		.faults = 20,
		.total_ns = 20000,
		.max_ns = 1000,
		.classes[FAULT_ANON] = 20,
		.parts_ns = { [PART_CPU_BEFORE] = 20000 },
	};
	run->groups[2] = (struct group){
		.name = "/lib/a,b\"\n.so",
		.inode = UINT64_MAX,
		.filesystem = &sample_server,
		.faults = 2,
		.major = 1,
		.total_ns = 5000,
		.max_ns = 4000,
		.parts_ns = { [PART_RUNQUEUE] = 5000 },
	};
	run->report.groups.wanted = true;
	run->report.groups.by = by;
	run->report.groups.rows = run->groups;
	run->report.groups.nr = 3;
}

static inline void sample_open(struct sample_run *run, uint64_t disk_ns)
{
	memset(run, 0, sizeof(*run));
	report_init(&run->report);
	run->report.full = true;
	sample_environment(&run->report.environment);
	run->calls = sample_calls(disk_ns);
	run->report.summary = explain_summary(run->calls);
	run->report.time.elapsed_ns = 1234567890;
	run->report.time.counted_ns = 1234567890;
	run->report.cost.calls = SAMPLE_CALLS;
	run->report.losses.records = 0;
	run->report.cost.call_cost_ps = 260300;
	run->report.cost.inside_ps = 27500;
	run->report.cost.bpf_hooked_ps = 1693000;
	run->report.cost.bpf_again_ps = 423000;
	run->report.cost.bpf_other_ps = 2250000;
	run->report.cost.bpf_hooked = SAMPLE_FAULTS;
	run->report.cost.bpf_again = 0;
	run->report.cost.bpf_other = 20;
	run->report.drive.pages_touched = SAMPLE_FAULTS;
	run->report.usage = (struct usage){
		.minflt = SAMPLE_FAULTS - SAMPLE_RETRIED + 3,
		.majflt = SAMPLE_RETRIED - 3,
		.nvcsw = 6150,
		.utime_ns = 1000005678,
		.maxrss_bytes = 3 << 20,
	};
	run->report.bpf.known = true;
	run->report.bpf.have_counts = true;
	run->report.bpf.hooks = (1U << HOOK_PERF) - 1;
	run->report.losses.events = 0;
	run->report.losses.events_skipped = 0;
	run->report.losses.events_sent = 3 * SAMPLE_RETRIED;
	run->report.losses.events_received = 3 * SAMPLE_RETRIED;
	run->report.bpf.off_cpu_count = SAMPLE_RETRIED;
	sample_details(run);
	sample_parts(&run->report);
	sample_ledger(&run->report.ledger);
}

/* Removes the eBPF results, as in a run without eBPF. */
static inline void sample_without_bpf(struct report *report)
{
	report->bpf.known = false;
	report->bpf.have_counts = false;
	report->faults.parts_known = false;
	report->bpf.hooks = 0;
	report->losses.events = COUNT_NA;
	report->losses.events_skipped = COUNT_NA;
	report->losses.events_sent = COUNT_NA;
	report->losses.events_received = COUNT_NA;
	report->bpf.off_cpu_count = COUNT_NA;
	strcpy(report->bpf.missing, "not permitted: run as root");
}

/* A run without a fault, without eBPF, on a machine with unknown properties. */
static inline void sample_open_empty(struct sample_run *run)
{
	memset(run, 0, sizeof(*run));
	report_init(&run->report);
	run->report.full = true;
	sample_without_bpf(&run->report);
	run->report.environment.version[0] = '\0';
	run->calls = calls_new();
	run->report.summary = explain_summary(run->calls);
}

static inline void sample_close(struct sample_run *run)
{
	explain_free(run->calls);
}

/* The caller frees the result. Inlined, gcc 12 would warn falsely of a dangling pointer. */
static __attribute__((noinline, unused)) char *sample_print(enum report_format format,
							    const struct report *runs, size_t nr)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(print_report(out, format, runs, nr), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

#endif
