// SPDX-License-Identifier: GPL-2.0-only
/* A whole measurement with a fault source whose ring is a file of this test. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/instruments_open.h"
#include "user/model/counters.h"
#include "user/run/measurement.h"
#include "user/util/message.h"
#include "user/util/page_size.h"
#include "user/util/signals.h"
#include "user/util/time_ns.h"
#include "util/why.h"

#define CAPACITY 39U /* capacity of a one-page ring */

static char folder[40];
static struct {
	struct fault_source source;
	struct fault_source_counters counters;
	struct pfstat_ring_header *header;
	struct pfstat_record *records;
	bool hooked_nothing, stopped;
	int open_err, stop_err;
} fake;

static int fake_open(struct fault_source **source, const struct fault_source_options *options,
		     struct why *why)
{
	(void)options;
	if (fake.open_err) {
		why_set(why, "the source is not there");
		return fake.open_err;
	}
	*source = &fake.source;
	return 0;
}

static int fake_hook_nothing(struct fault_source *source, struct why *why)
{
	(void)source;
	(void)why;
	fake.hooked_nothing = true;
	return 0;
}

static int fake_start(struct fault_source *source)
{
	static struct record_ring ring;

	source->rings = &ring;
	source->nr_rings = 1;
	return record_ring_open(&ring, "ring");
}

static int fake_stop(struct fault_source *source)
{
	(void)source;
	fake.stopped = true;
	return fake.stop_err;
}

static int fake_mappings(const struct fault_source *source, fault_source_sink sink, void *context)
{
	const struct pfstat_mapping mapping = {
		.event = {
			.type = PFSTAT_EVENT_MAPPING, .size = sizeof(mapping),
			.pid = getpid(), .tid = getpid(), .ns = clock_monotonic_ns(),
		},
		.address = 0x10000, .bytes = 4096, .advice = MAPPING_RANDOM, .ra_pages = 32,
	};

	(void)source;
	ck_assert(!fake.stopped);
	return sink(context, &mapping);
}

static int fake_counters(const struct fault_source *source, struct fault_source_counters *counters)
{
	(void)source;
	*counters = fake.counters;
	return 0;
}

static void fake_close(struct fault_source *source)
{
	if (source->nr_rings)
		record_ring_close(&source->rings[0]);
}

static const struct fault_source_ops fake_ops = {
	.name = "the fake",
	.word = "module",
	.open = fake_open,
	.hook_nothing = fake_hook_nothing,
	.start = fake_start,
	.mappings = fake_mappings,
	.stop = fake_stop,
	.counters = fake_counters,
	.close = fake_close,
};

static void put_record(void)
{
	const uint64_t at = fake.header->head;

	fake.records[at] = (struct pfstat_record){
		.start_ns = clock_monotonic_ns(),
		.duration_ns = 1000,
		.sequence = at + 1,
		.inode = 7,
		.pid = getpid(),
		.tid = gettid(),
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_SHORT,
	};
	__atomic_store_n(&fake.header->head, at + 1, __ATOMIC_RELEASE);
	fake.counters.calls++;
}

/* A fault in another mapping, as the module records it. */
static void put_fault(void)
{
	struct pfstat_record *record = &fake.records[fake.header->head];

	put_record();
	fake.counters.calls--;
	record->op = PFSTAT_OP_MM_FAULT;
	record->class = PFSTAT_FAULT_COW;
	record->before = PFSTAT_ORIGIN_KERNEL;
	record->order = PFSTAT_OUTCOME_MAJOR;
}

static void make_ring(void)
{
	FILE *file = fopen("ring", "w+");
	char *memory;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(ftruncate(fileno(file), 2 * page_size()), 0);
	memory = mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	fclose(file);
	fake.header = (void *)memory;
	fake.records = (void *)(memory + page_size());
	*fake.header = (struct pfstat_ring_header){
		.version = PFSTAT_ABI_VERSION,
		.record_size = sizeof(struct pfstat_record),
		.capacity = CAPACITY,
	};
}

static void set_up(struct measurement_options *options, struct result *result)
{
	strcpy(folder, "/tmp/pfstat-measurement-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_ptr_nonnull(freopen("err", "w", stderr));
	signals_init();
	memset(&fake, 0, sizeof(fake));
	fake.source.ops = &fake_ops;
	make_ring();
	*options = (struct measurement_options){
		.instruments = {
			.source = &fake_ops, .bpf_missing = "it is a test", .only_fd = -1,
			.tick_ms = -1, .no_counters = true,
		},
		.hooks_nothing = true,
		.keeps_privileges = true,
	};
	result_init(result);
}

static void tear_down(struct measurement *measurement, struct result *result)
{
	measurement_close(measurement);
	result_free(result);
	munmap(fake.header, 2 * page_size());
	ck_assert_int_eq(unlink("ring"), 0);
	unlink("err");
	unlink("run.pfs");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void measure(struct measurement *measurement, unsigned int nr)
{
	ck_assert_int_eq(measurement_hook_nothing(measurement), 0);
	ck_assert_int_eq(measurement_start(measurement), 0);
	while (nr--)
		put_record();
}

TEST(test_the_report_has_the_records_of_the_source)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	measure(&measurement, 5);
	ck_assert(fake.hooked_nothing);
	ck_assert_int_eq(measurement_stop(&measurement), 0);
	ck_assert(fake.stopped);
	result.counters.usage.minflt = 12;
	ck_assert_int_eq(measurement_finish(&measurement), STATUS_OK);
	ck_assert(result.filled);
	ck_assert_uint_eq(result.report.cost.calls, 5);
	ck_assert_uint_eq(result.report.faults.all.count, 5);
	ck_assert_uint_eq(result.report.usage.minflt, 12);
	ck_assert_str_eq(result.report.bpf.missing, "it is a test");
	ck_assert_int_eq(result_check(&result, 1), STATUS_OK);
	tear_down(&measurement, &result);
}

static int check_fault(void *context, const struct item *item)
{
	const struct pfstat_fault *fault = (const struct pfstat_fault *)item->event;
	unsigned int *seen = context;

	if (item->type != ITEM_EVENT)
		return 0;
	ck_assert_uint_eq(fault->event.type, PFSTAT_EVENT_FAULT);
	ck_assert_uint_eq(fault->event.size, sizeof(*fault));
	ck_assert_uint_eq(fault->event.flags, PFSTAT_FAULT_COW);
	ck_assert_uint_eq(fault->event.ns, item->ns);
	ck_assert_uint_eq(fault->event.ns - fault->start_ns, 1000);
	ck_assert_uint_eq(fault->event.tid, gettid());
	ck_assert_uint_eq(fault->inode, 7);
	ck_assert_uint_eq(fault->origin, PFSTAT_ORIGIN_KERNEL);
	ck_assert_uint_eq(fault->outcome, PFSTAT_OUTCOME_MAJOR);
	++*seen;
	return 0;
}

TEST(test_a_fault_that_the_source_records_is_an_event)
{
	struct measurement_options options;
	struct cpus cpus;
	struct collector_options collector_options = { .cpus = &cpus, .tick_ms = -1 };
	struct collector *collector;
	struct result result;
	unsigned int seen = 0;

	set_up(&options, &result);
	ck_assert_int_eq(cpus_read(&cpus), 0);
	ck_assert_int_eq(fake_start(&fake.source), 0);
	collector_options.source = &fake.source;
	collector_options.sink = check_fault;
	collector_options.sink_context = &seen;
	ck_assert_int_eq(collector_open(&collector, &collector_options), 0);
	put_record();
	put_fault();
	put_fault();
	ck_assert_int_eq(collector_stop(collector), 0);
	ck_assert_uint_eq(collector_faults(collector), 2);
	ck_assert_uint_eq(seen, 2);
	collector_close(collector);
	fake_close(&fake.source);
	result_free(&result);
	munmap(fake.header, 2 * page_size());
	unlink("ring");
	unlink("err");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

TEST(test_refusal_of_the_source_is_the_reason)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	fake.open_err = -ENODEV;
	errno = EIO;
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), -ENODEV);
	ck_assert_str_eq(measurement.why.text, "the source is not there");
	tear_down(&measurement, &result);
}

TEST(test_an_error_at_the_end_marks_the_report_as_damaged)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	fake.stop_err = -EIO;
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	measure(&measurement, 3);
	ck_assert_int_eq(measurement_stop(&measurement), -EIO);
	ck_assert_int_eq(measurement_stop(&measurement), 0); /* once */
	ck_assert_int_eq(measurement_finish(&measurement), STATUS_FAILED);
	ck_assert(result.filled);
	ck_assert_uint_eq(result.report.cost.calls, 3);
	ck_assert_str_eq(result.report.losses.damage, "cannot stop the fake: Input/output error");
	tear_down(&measurement, &result);
}

static int drop_all(void *context, const struct item *item)
{
	(void)item;
	++*(unsigned int *)context;
	return 1;
}

TEST(test_an_observer_may_take_all_events)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;
	unsigned int seen = 0;

	set_up(&options, &result);
	options.without_analysis = true;
	options.observer = drop_all;
	options.observer_context = &seen;
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	measure(&measurement, 4);
	ck_assert_int_eq(measurement_stop(&measurement), 0);
	ck_assert_uint_eq(seen, 4 + 1); /* records, and a mapping state */
	ck_assert_int_eq(measurement_finish(&measurement), STATUS_OK);
	ck_assert(!result.filled);
	tear_down(&measurement, &result);
}

TEST(test_a_recording_that_is_not_finished_is_kept)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	ck_assert_int_eq(measurement_record(&measurement, "run.pfs"), STATUS_OK);
	measure(&measurement, 2);
	measurement_keep_recording(&measurement);
	measurement_close(&measurement);
	ck_assert(fake.stopped);
	ck_assert_int_eq(access("run.pfs", F_OK), 0);
	tear_down(&measurement, &result);
}

TEST(test_a_recording_that_has_not_begun_is_removed)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	ck_assert_int_eq(measurement_record(&measurement, "run.pfs"), STATUS_OK);
	measurement_close(&measurement);
	ck_assert_int_ne(access("run.pfs", F_OK), 0);
	tear_down(&measurement, &result);
}

TEST(test_a_recording_that_cannot_begin_does_not_end_the_run)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	ck_assert_int_eq(measurement_record(&measurement, "/dev/full"), STATUS_OK);
	measure(&measurement, 2);
	measurement_keep_recording(&measurement);
	ck_assert_int_eq(measurement_stop(&measurement), 0);
	ck_assert_int_eq(measurement_finish(&measurement), STATUS_OK);
	ck_assert(result.filled);
	ck_assert_uint_eq(result.report.cost.calls, 2);
	ck_assert_int_eq(result_status(&result), STATUS_FAILED);
	tear_down(&measurement, &result);
}

TEST(test_a_recording_of_a_missing_folder_ends_the_run)
{
	struct measurement_options options;
	struct measurement measurement;
	struct result result;

	set_up(&options, &result);
	ck_assert_int_eq(measurement_open(&measurement, &options, &result), 0);
	ck_assert_int_eq(measurement_record(&measurement, "missing/run.pfs"), STATUS_FAILED);
	tear_down(&measurement, &result);
}
