// SPDX-License-Identifier: GPL-2.0-only
/* Extra output unrelated to faults, as tables and as JSON. */
#include <jansson.h>
#include <sys/mman.h>

#include "runner.h"
#include "sample_run.h"
#include "schema.h"
#include "user/print/json/json_extras.h"
#include "user/print/print_report.h"

/* One run with all the extra output one can request. */
struct sample {
	struct sample_run run;
	struct hw_counts counters;
	struct cache_simulation simulation;
	struct cachegrind_function functions[2];
	struct map_list maps;
	struct map_line lines[2];
	struct syscall_total syscalls[2];
};

static void set(struct hw_count *count, uint64_t raw)
{
	*count = (struct hw_count){
		.raw = raw, .value = 2 * raw, .enabled_ns = 2000, .running_ns = 1000
	};
}

/* Half the time for L1D reads, all the time for dTLB write misses. The rest is missing. */
static void sample_counters(struct hw_counts *counts)
{
	struct hw_count *all = &counts->counts[0][0][0];
	size_t i;

	for (i = 0; i < sizeof(counts->counts) / sizeof(*all); i++)
		strcpy(all[i].missing, "this processor does not count it (ENOENT)");
	set(&counts->counts[HW_L1D][HW_READ][HW_ACCESS], 1000);
	set(&counts->counts[HW_L1D][HW_READ][HW_MISS], 15);
	set(&counts->counts[HW_DTLB][HW_WRITE][HW_MISS], 0);
	counts->l1d_bytes = 32768;
	counts->walked_bytes = 65536;
}

static void sample_simulation(struct sample *sample)
{
	static const int64_t loop[CACHEGRIND_NR_EVENTS] = {
		[CACHEGRIND_DR] = 900, [CACHEGRIND_D1MR] = 450, [CACHEGRIND_DLMR] = 9,
		[CACHEGRIND_DW] = 100, [CACHEGRIND_D1MW] = 50,
	};

	strcpy(sample->simulation.version, "valgrind-3.24.0");
	sample->functions[0].name = "random_run";
	memcpy(sample->functions[0].events, loop, sizeof(loop));
	sample->functions[1].name = "main";
	sample->functions[1].events[CACHEGRIND_DR] = -3;
	memcpy(sample->simulation.loop.summary, loop, sizeof(loop));
	sample->simulation.loop.summary[CACHEGRIND_DR] -= 3;
	sample->simulation.loop.functions = sample->functions;
	sample->simulation.loop.nr = 2;
}

static void sample_maps(struct sample *sample)
{
	sample->lines[0] = (struct map_line){
		.start = 0x7f0000000000,
		.end = 0x7f0000400000,
		.inode = 12,
		.dev = 5,
		.prot = PROT_READ,
		.shared = true,
		.path = "/mnt/disk/demo.bin",
		.resident = 8192,
		.pss = 8192,
		.dirty = 0,
		.anonymous = 0,
		.swapped = 4096,
		.kind = MAP_KIND_MEASURED,
		.hooked = true,
	};
	sample->lines[1] = (struct map_line){
		.start = 0xffffffffff600000,
		.end = 0xffffffffff601000,
		.prot = PROT_EXEC,
		.path = "[vsyscall]",
		.resident = COUNT_NA,
		.pss = COUNT_NA,
		.dirty = COUNT_NA,
		.anonymous = COUNT_NA,
		.swapped = COUNT_NA,
		.kind = MAP_KIND_VSYSCALL,
	};
	sample->maps = (struct map_list){
		.pid = 77,
		.program = "/usr/sbin/pfdrive",
		.lines = sample->lines,
		.nr_lines = 2,
		.hooks_known = true,
	};
}

static void open_sample(struct sample *sample)
{
	struct report_extras *measures = &sample->run.report.extras;

	memset(sample, 0, sizeof(*sample));
	sample_open(&sample->run, 150000);
	sample_counters(&sample->counters);
	sample_simulation(sample);
	sample_maps(sample);
	sample->syscalls[0] = (struct syscall_total){ 39, 30, 0, 7500000 }; /* getpid */
	sample->syscalls[1] = (struct syscall_total){ 3, 10, 5, 2500000 };  /* close */
	measures->print_usage = true;
	measures->print_syscalls = true;
	measures->counters = &sample->counters;
	measures->simulation = &sample->simulation;
	measures->maps = &sample->maps;
	measures->syscalls = sample->syscalls;
	measures->nr_syscalls = 2;
	measures->usage[USAGE_MINFLT].rusage = 100;
	measures->usage[USAGE_MINFLT].ebpf = 98;
	measures->usage[USAGE_NVCSW].rusage = 7;
	measures->usage[USAGE_NVCSW].ebpf = 7;
	measures->usage[USAGE_OUBLOCK].rusage = 8;
	measures->usage[USAGE_OUBLOCK].ebpf = 0;
}

/* The text line that starts so, with runs of spaces as one. NULL if not found. */
static const char *line_of(const char *text, const char *begins)
{
	static char line[256];
	const char *at = text, *from;
	char *to;

	for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		to = line;
		for (from = at; *from && *from != '\n' && to < line + sizeof(line) - 1; from++)
			if (*from != ' ' || (to > line && to[-1] != ' '))
				*to++ = *from;
		*to = '\0';
		if (!strncmp(line, begins, strlen(begins)))
			return line;
	}
	return NULL;
}

static void check_line(const char *text, const char *begins, const char *whole)
{
	const char *line = line_of(text, begins);

	ck_assert_msg(line, "no line begins with %s:\n%s", begins, text);
	ck_assert_str_eq(line, whole);
}

TEST(test_tables_of_one_run)
{
	struct sample sample;
	char *text;

	open_sample(&sample);
	text = sample_print(REPORT_TABLE, &sample.run.report, 1);
	check_line(text, "minflt 1", "minflt 100 98 +2 handle_mm_fault() returns; differs:");
	ck_assert_ptr_nonnull(strstr(text, "UNEXPLAINED"));
	check_line(text, "nvcsw 7", "nvcsw 7 7 0 off-CPU intervals, asleep");
	check_line(text, "maxrss", "maxrss KiB n/a n/a - process maximum; eBPF has no event");
	check_line(text, "L1D read", "L1D read 2000 30 1.5% 50.0%");
	check_line(text, "L1D write", "L1D write not available not available - -");
	check_line(text, "dTLB write", "dTLB write not available 0 - 50.0%");
	check_line(text, "Not available: L1D write m",
		   "Not available: L1D write misses: this processor does not count it (ENOENT)");
	ck_assert_ptr_null(line_of(text, "Not available: L1D read"));
	ck_assert_ptr_nonnull(strstr(text, "SIMULATED by valgrind-3.24.0"));
	check_line(text, "in random_run", "in random_run 1000 500 50.0% 9 0.9%");
	check_line(text, "elsewhere", "elsewhere -3 0 - 0 -");
	check_line(text, "75.00", "75.00 0.007500 250 30 getpid");
	check_line(text, "25.00", "25.00 0.002500 250 10 5 close");
	check_line(text, "100.00", "100.00 0.010000 250 40 5 total");
	check_line(text, "7f0000000000",
		   "7f0000000000 r--s 4096 8 4 yes under measurement: /mnt/disk/demo.bin");
	check_line(text, "ffffffffff600000",
		   "ffffffffff600000 --xp 4 n/a n/a - [vsyscall] fixed "
		   "address of three system");
	free(text);
	sample_close(&sample.run);
}

TEST(test_extras_are_printed_only_on_request)
{
	struct sample_run run;
	char *text;

	sample_open(&run, 150000);
	text = sample_print(REPORT_TABLE, &run.report, 1);
	ck_assert_ptr_null(strstr(text, "getrusage  "));
	ck_assert_ptr_null(strstr(text, "SIMULATED"));
	ck_assert_ptr_null(strstr(text, "Hardware counters"));
	ck_assert_ptr_null(strstr(text, "usecs/call"));
	ck_assert_ptr_null(strstr(text, "Memory map"));
	free(text);
	sample_close(&run);
}

TEST(test_missing_pmu_is_reported_once)
{
	struct sample sample;
	struct hw_count *all;
	const char *first;
	char *text;
	size_t i;

	open_sample(&sample);
	all = &sample.counters.counts[0][0][0];
	for (i = 0; i < sizeof(sample.counters.counts) / sizeof(*all); i++)
		strcpy(all[i].missing, "no PMU");
	sample.counters.walked_bytes = 0;
	text = sample_print(REPORT_TABLE, &sample.run.report, 1);
	first = strstr(text, "No counter is available: no PMU\n");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "No counter is"));
	ck_assert_ptr_nonnull(strstr(text, "L1D was not\nflushed before"));
	free(text);
	sample_close(&sample.run);
}

TEST(test_runs_have_mean_and_deviation)
{
	struct sample sample, other;
	struct report reports[2];
	char *text;

	open_sample(&sample);
	open_sample(&other);
	set(&other.counters.counts[HW_L1D][HW_READ][HW_MISS], 35);
	strcpy(other.counters.counts[HW_DTLB][HW_WRITE][HW_MISS].missing, "no");
	other.run.report.extras.usage[USAGE_NVCSW].rusage = 9;
	other.run.report.extras.usage[USAGE_MINFLT].ebpf = COUNT_NA;
	reports[0] = sample.run.report;
	reports[1] = other.run.report;
	text = sample_print(REPORT_TABLE, reports, 2);
	check_line(text, "nvcsw", "nvcsw 8.0 ± 1.4 7.0 ± 0.0");
	check_line(text, "minflt 1", "minflt 100.0 ± 0.0 n/a");
	check_line(text, "L1D read", "L1D read 2000.0 ± 0.0 50.0 ± 28.3 2.5 ± 1.4");
	check_line(text, "dTLB write", "dTLB write not available not available -");
	ck_assert_ptr_nonnull(strstr(text, "Run 2 of 2\n\nSystem calls in strace -c -w format"));
	free(text);
	sample_close(&sample.run);
	sample_close(&other.run);
}

static void check_schema(const char *text)
{
	struct schema schema = schema_load();
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_ptr_nonnull(json);
	ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
	json_decref(json);
	json_decref((json_t *)schema.root);
}

TEST(test_json_matches_the_schema)
{
	struct sample samples[2];
	struct report reports[2];
	char *text;

	open_sample(&samples[0]);
	open_sample(&samples[1]);
	reports[0] = samples[0].run.report;
	reports[1] = samples[1].run.report;
	text = sample_print(REPORT_JSON, reports, 1);
	check_schema(text);
	free(text);
	text = sample_print(REPORT_JSON, reports, 2);
	check_schema(text);
	free(text);
	sample_close(&samples[0].run);
	sample_close(&samples[1].run);
}

TEST(test_a_memory_map_alone_matches_the_schema)
{
	struct sample sample;
	json_t *json;
	char *text;

	open_sample(&sample);
	json = json_maps(&sample.maps);
	text = json_dumps(json, 0);
	check_schema(text);
	free(text);
	json_decref(json);
	sample_close(&sample.run);
}

TEST(test_json_has_figures_and_null_for_missing_counters)
{
	struct sample sample;
	json_t *json, *operation, *line;
	json_int_t value;
	double rate;

	open_sample(&sample);
	json = json_counters(sample.run.report.extras.counters);
	ck_assert_int_eq(json_unpack(json, "{s{so}}", "l1d", "read", &operation), 0);
	ck_assert_int_eq(json_unpack(operation, "{s{sI} sF}", "accesses", "count", &value,
				     "miss_rate", &rate),
			 0);
	ck_assert_int_eq(value, 2000);
	ck_assert_double_eq_tol(rate, 0.015, 0.000001);
	ck_assert_int_eq(json_unpack(json, "{s{s{s{sn}}}}", "l1d", "write", "misses", "count"), 0);
	json_decref(json);
	json = json_both_usages(sample.run.report.extras.usage);
	ck_assert_int_eq(json_unpack(json, "{s{sI}}", "oublock", "difference", &value), 0);
	ck_assert_int_eq(value, 8);
	ck_assert_int_eq(json_unpack(json, "{s{sn sn}}", "maxrss_kb", "ebpf", "reason"), 0);
	json_decref(json);
	json = json_maps(&sample.maps);
	line = json_array_get(json_object_get(json, "maps"), 1);
	ck_assert_str_eq(json_string_value(json_object_get(line, "address")),
			 "18446744073699065856");
	ck_assert(json_is_null(json_object_get(line, "resident_bytes")));
	json_decref(json);
	sample_close(&sample.run);
}
