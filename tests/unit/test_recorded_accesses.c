// SPDX-License-Identifier: GPL-2.0-only
/* A recording's accesses, the recorded files as they are now, and the plan made from them. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "apps/advise/advise.h"
#include "user/model/mapping_state.h"
#include "user/recording/counters_json.h"
#include "user/recording/writer.h"
#include "user/util/message.h"
#include "user/util/page_size.h"

#define MAPPED 0x7f0000000000UL
#define PAGES  16

static char folder[32], path[64];
static struct recorded_accesses accesses;
static struct recording_writer *writer;
static FILE *out;

static void make_data(const char *name, unsigned int pages)
{
	const int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, pages * page_size()), 0);
	close(fd);
}

static void make_folder(void)
{
	strcpy(folder, "/tmp/pfstat-accesses-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	snprintf(path, sizeof(path), "%s/data", folder);
	make_data(path, PAGES);
}

static void remove_folder(void)
{
	recorded_accesses_exit(&accesses);
	unlink("run.pfs");
	unlink("data");
	unlink("other");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static uint64_t inode_of(const char *name)
{
	struct stat status;

	ck_assert_int_eq(stat(name, &status), 0);
	return status.st_ino;
}

static void add(enum item_type type, uint64_t ns, const void *data)
{
	struct item item = { .type = type, .ns = ns, .record = data };

	ck_assert_int_eq(recording_add(writer, &item), 0);
}

static uint32_t map_flags;

static void add_map(uint64_t ns, uint64_t address, uint64_t pgoff, uint32_t prot)
{
	const size_t bytes = strlen(path) + 1;
	struct item_map *map = calloc(1, sizeof(*map) + bytes);

	ck_assert_ptr_nonnull(map);
	*map = (struct item_map){
		.ns = ns,
		.address = address,
		.bytes = PAGES * page_size(),
		.pgoff = pgoff,
		.inode = inode_of(path),
		.pid = 50,
		.tid = 50,
		.prot = prot,
		.flags = MAP_SHARED | map_flags,
		.path_bytes = bytes,
	};
	memcpy(map->path, path, bytes);
	add(ITEM_MAP, ns, map);
	free(map);
}

static void add_call(enum pfstat_op op, uint32_t pid, uint32_t tid, uint64_t start_ns,
		     uint64_t page, enum pfstat_class class)
{
	const struct pfstat_record record = {
		.sequence = 1,
		.start_ns = start_ns,
		.duration_ns = 300,
		.address = MAPPED + page * page_size(),
		.pgoff = page,
		.inode = inode_of(path),
		.pid = pid,
		.tid = tid,
		.op = op,
		.class = class,
		.result = PFSTAT_RESULT_LOCKED,
	};

	add(ITEM_RECORD, start_ns + record.duration_ns, &record);
}

static void add_fault(uint32_t pid, uint32_t tid, uint64_t start_ns, uint64_t page,
		      enum pfstat_class class)
{
	add_call(PFSTAT_OP_FAULT, pid, tid, start_ns, page, class);
}

static void add_fork(uint64_t ns, uint32_t pid, uint32_t tid)
{
	const struct pfstat_task fork = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(fork),
			   .flags = PFSTAT_TASK_FORK,
			   .pid = pid,
			   .tid = tid,
			   .ns = ns },
		.parent = 50,
		.parent_pid = 50,
		.comm = "child",
	};

	add(ITEM_EVENT, ns, &fork);
}

static void begin_recording(void)
{
	json_t *head = json_pack("{s{sI}}", "environment", "page_bytes", (json_int_t)page_size());

	out = fopen("run.pfs", "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(recording_begin(&writer, out, head), 0);
	json_decref(head);
}

static void end_recording_of(uint32_t hooks, uint64_t lost)
{
	struct run_counters counters;
	json_t *tail;

	run_counters_init(&counters);
	counters.start_ns = 1000;
	counters.end_ns = 90000;
	counters.have_bpf = true;
	counters.hooks = hooks;
	counters.lost = lost;
	tail = counters_json(&counters);
	ck_assert_int_eq(recording_end(writer, tail), 0);
	ck_assert_int_eq(fclose(out), 0);
	run_counters_exit(&counters);
	json_decref(tail);
}

static void end_recording(void)
{
	end_recording_of(0, 0);
}

static void add_perf_fault(uint64_t start_ns, uint64_t page, enum pfstat_fault_outcome outcome)
{
	const struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .flags = PFSTAT_FAULT_FILE,
			   .pid = 50,
			   .tid = 50,
			   .ns = start_ns + 300 },
		.start_ns = start_ns,
		.address = MAPPED + page * 4096,
		.pgoff = page,
		.inode = inode_of(path),
		.outcome = outcome,
		.perf = PFSTAT_PERF_SAMPLED,
	};

	add(ITEM_EVENT, fault.event.ns, &fault);
}

static void read_recording(void)
{
	ck_assert_int_eq(recorded_accesses_read(&accesses, "run.pfs"), STATUS_OK);
}

TEST(test_accesses_of_all_threads_have_their_mappings)
{
	begin_recording();
	add_map(1500, MAPPED, 0, PROT_READ);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	add_fork(3000, 50, 51);
	add_fault(50, 51, 4000, 5, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.start_ns, 1000);
	ck_assert_uint_eq(accesses.nr_files, 1);
	ck_assert_uint_eq(accesses.files[0].faults, 2);
	ck_assert_uint_eq(accesses.files[0].fault_ns, 600);
	ck_assert_uint_eq(accesses.files[0].pages, 6);
	ck_assert(!accesses.files[0].cold);
	ck_assert_int_eq(advise_files_check(&accesses, NULL), STATUS_OK);
	ck_assert_str_eq(advise_files_main(&accesses)->path, path);
	ck_assert_uint_eq(accesses.plan.nr_threads, 2);
	ck_assert_uint_eq(accesses.plan.nr_touches, 2);
	/* run, mapped, run, touch 3, run, signal for the fork */
	ck_assert_uint_eq(accesses.plan.threads[0]->nr_steps, 6);
	ck_assert_uint_eq(accesses.plan.threads[0]->steps[3].value, 3);
	ck_assert_uint_eq(accesses.plan.threads[1]->steps[2].value, 5);
}

TEST(test_file_with_a_major_fault_of_perf_is_cold)
{
	begin_recording();
	add_map(1500, MAPPED, 0, PROT_READ);
	add_perf_fault(2000, 3, PFSTAT_OUTCOME_MINOR);
	add_perf_fault(3000, 4, PFSTAT_OUTCOME_MAJOR);
	end_recording_of(1U << HOOK_FAULT | 1U << HOOK_PERF, COUNT_NA);
	read_recording();
	ck_assert_uint_eq(accesses.files[0].faults, 2);
	ck_assert(accesses.files[0].cold);
	ck_assert_uint_eq(accesses.lost, 0);
	ck_assert(!accesses.have_advice);
}

TEST(test_file_with_only_minor_faults_of_perf_is_not_cold)
{
	begin_recording();
	add_map(1500, MAPPED, 0, PROT_READ);
	add_perf_fault(2000, 3, PFSTAT_OUTCOME_MINOR);
	end_recording_of(1U << HOOK_FAULT | 1U << HOOK_PERF, COUNT_NA);
	read_recording();
	ck_assert(!accesses.files[0].cold);
}

TEST(test_a_process_has_its_parents_mappings_and_its_own_accesses)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ);
	add_fork(3000, 60, 60);
	add_fault(60, 60, 4000, 5, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.nr_mappings, 2);
	ck_assert(accesses.mappings[1].inherited && accesses.mappings[1].used);
	ck_assert(!accesses.mappings[0].used);
	ck_assert_uint_eq(accesses.unplaced, 0);
}

TEST(test_a_later_mapping_hides_an_earlier_one)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	add_map(3000, MAPPED, 0, PROT_READ);
	add_fault(50, 50, 4000, 3, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.nr_mappings, 2);
	ck_assert(accesses.mappings[0].used && accesses.mappings[1].used);
}

/* An exec is a mapping without bytes, as the kernel's hooks record it. */
static void add_exec(uint64_t ns)
{
	const struct item_map map = { .ns = ns, .pid = 50, .tid = 50, .path_bytes = 1 };
	struct item_map *copy = calloc(1, sizeof(*copy) + 1);

	ck_assert_ptr_nonnull(copy);
	*copy = map;
	add(ITEM_MAP, ns, copy);
	free(copy);
}

TEST(test_a_new_program_has_no_mapping_of_the_old_one)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	add_exec(3000);
	add_fault(50, 50, 4000, 5, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.files[0].faults, 1);
	ck_assert_uint_eq(accesses.unplaced, 1);
}

/* The middle page is mapped again. The pages before and after it stay where they are. */
TEST(test_the_rest_of_a_cut_mapping_is_replayed_at_its_own_pages)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ);
	add_map(0, MAPPED - 10 * page_size(), 100, PROT_READ);
	add_fault(50, 50, 2000, 10, PFSTAT_CLASS_LONG);
	add_fault(50, 50, 3000, 12, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.unplaced, 0);
	ck_assert_uint_eq(accesses.nr_mappings, 3);
	ck_assert(!accesses.mappings[0].used && !accesses.mappings[1].used);
	ck_assert(accesses.mappings[2].used && accesses.mappings[2].inherited);
	ck_assert_uint_eq(accesses.mappings[2].pgoff, 6);
	ck_assert_uint_eq(accesses.mappings[2].bytes, 10 * page_size());
}

/* A fork takes a few bytes of a recording, however many mappings the child has. */
TEST(test_mappings_that_no_child_uses_take_no_memory)
{
	enum { MAPS = 1000, FORKS = 1000 };
	unsigned int i;

	begin_recording();
	for (i = 0; i < MAPS; i++)
		add_map(0, MAPPED + i * PAGES * page_size(), i * PAGES, PROT_READ);
	for (i = 0; i < FORKS; i++)
		add_fork(3000 + i, 100 + i, 100 + i);
	add_fault(100 + FORKS - 1, 100 + FORKS - 1, 9000, 3 * PAGES, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.unplaced, 0);
	ck_assert_uint_eq(accesses.nr_mappings, MAPS + 1);
	ck_assert_uint_eq(accesses.mappings[MAPS].pid, 100 + FORKS - 1);
	ck_assert_uint_eq(accesses.mappings[MAPS].pgoff, 3 * PAGES);
}

TEST(test_faults_without_a_mapping_are_counted)
{
	begin_recording();
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.unplaced, 1);
	ck_assert_int_eq(advise_files_check(&accesses, NULL), STATUS_FAILED);
}

TEST(test_stores_to_mapped_pages_are_counted_as_not_repeated)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ | PROT_WRITE);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	add_call(PFSTAT_OP_PAGE_MKWRITE, 50, 50, 4000, 5, PFSTAT_CLASS_MKWRITE);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.files[0].faults, 1);
	ck_assert_uint_eq(accesses.not_repeated, 1);
	ck_assert_uint_eq(accesses.not_repeated_ns, 300);
}

static void add_advice(uint64_t address, uint64_t bytes)
{
	const struct pfstat_advice advice = {
		.event = { .type = PFSTAT_EVENT_ADVICE,
			   .size = sizeof(advice),
			   .pid = 50,
			   .tid = 50,
			   .ns = 3000 },
		.start_ns = 2500,
		.address = address,
		.bytes = bytes,
		.advice = MADV_RANDOM,
	};

	add(ITEM_EVENT, 3000, &advice);
}

/* At the end of the mapping. */
static void add_state(uint64_t ns, uint32_t advice)
{
	const struct pfstat_mapping state = {
		.event = { .type = PFSTAT_EVENT_MAPPING,
			   .size = sizeof(state),
			   .pid = 50,
			   .tid = 50,
			   .ns = ns },
		.address = MAPPED,
		.bytes = PAGES * page_size(),
		.advice = advice,
	};

	add(ITEM_EVENT, ns, &state);
}

static const struct accessed_mapping *read_mapping(uint32_t flags, bool advised, uint32_t state)
{
	recorded_accesses_exit(&accesses);
	begin_recording();
	map_flags = flags;
	add_map(0, MAPPED, 0, PROT_READ);
	map_flags = 0;
	if (advised)
		add_advice(MAPPED, 4096);
	add_fault(50, 50, 3500, 3, PFSTAT_CLASS_LONG);
	if (state < MAPPING_NR_ADVICES)
		add_state(4000, state);
	end_recording();
	read_recording();
	return accesses.mappings;
}

TEST(test_advice_from_before_the_recording_is_that_at_the_end_if_no_call_changed_it)
{
	const struct accessed_mapping *mapping;

	mapping = read_mapping(ITEM_MAP_NO_ADVICE, false, MAPPING_RANDOM);
	ck_assert_int_eq(mapping->initial_advice, MADV_RANDOM);
	ck_assert(!mapping->no_advice);
	mapping = read_mapping(ITEM_MAP_NO_ADVICE, false, MAPPING_NORMAL);
	ck_assert_int_eq(mapping->initial_advice, -1);
	ck_assert(!mapping->no_advice);
	mapping = read_mapping(ITEM_MAP_NO_ADVICE, true, MAPPING_RANDOM);
	ck_assert_int_eq(mapping->initial_advice, -1);
	ck_assert(mapping->no_advice);
	ck_assert(read_mapping(ITEM_MAP_NO_ADVICE, false, MAPPING_NR_ADVICES)->no_advice);
	mapping = read_mapping(ITEM_MAP_SEQUENTIAL, false, MAPPING_NORMAL);
	ck_assert_int_eq(mapping->initial_advice, MADV_SEQUENTIAL);
}

TEST(test_the_advice_of_a_childs_mapping_is_as_unknown_as_that_of_its_parent)
{
	begin_recording();
	map_flags = ITEM_MAP_NO_ADVICE;
	add_map(0, MAPPED, 0, PROT_READ);
	map_flags = 0;
	add_fork(2000, 60, 60);
	add_fault(60, 60, 3500, 3, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.nr_mappings, 2);
	ck_assert(accesses.mappings[1].inherited && accesses.mappings[1].no_advice);
}

/* A damaged or forged recording may have a mapping that ends beyond the last address. */
TEST(test_mapping_beyond_the_last_address_takes_no_advice)
{
	begin_recording();
	add_map(0, UINT64_MAX - 4095, 0, PROT_READ);
	add_map(0, 0, 0, PROT_READ);
	add_advice(UINT64_MAX - 4095, 4095);
	end_recording();
	read_recording();
	ck_assert_uint_eq(accesses.advices, 0);
}

TEST(test_code_is_replayed_and_not_advised)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ | PROT_EXEC);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	end_recording();
	read_recording();
	ck_assert_int_eq(advise_files_check(&accesses, NULL), STATUS_FAILED);
	recorded_accesses_exit(&accesses);
	read_recording();
	ck_assert_int_eq(advise_files_check(&accesses, path), STATUS_OK);
}

static const char *reason_now(void)
{
	recorded_accesses_exit(&accesses);
	read_recording();
	ck_assert_int_eq(advise_files_check(&accesses, path), STATUS_FAILED);
	ck_assert_ptr_nonnull(accesses.files[0].left_out);
	return accesses.files[0].left_out;
}

TEST(test_a_file_that_is_not_the_recorded_one_is_left_out)
{
	begin_recording();
	add_map(0, MAPPED, 0, PROT_READ);
	add_fault(50, 50, 2000, 3, PFSTAT_CLASS_LONG);
	end_recording();
	ck_assert_int_eq(truncate(path, page_size()), 0);
	ck_assert_str_eq(reason_now(), "it is shorter than it was");
	make_data("other", PAGES);
	ck_assert_int_eq(rename("other", path), 0);
	ck_assert_str_eq(reason_now(), "another file has this name now");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_str_eq(reason_now(), "it does not exist any more");
}

TEST(test_a_missing_recording_is_refused)
{
	ck_assert_int_eq(recorded_accesses_read(&accesses, "none.pfs"), STATUS_FAILED);
}

FIXTURE(make_folder, remove_folder);
