// SPDX-License-Identifier: GPL-2.0-only
/* The longest faults in a run, and what else happened during them. */
#include <jansson.h>
#include <string.h>

#include "golden.h"
#include "random.h"
#include "runner.h"
#include "sample_run.h"
#include "schema.h"
#include "user/analyze/analysis.h"
#include "user/analyze/slowest.h"

#define DISK (8U << 20)

static struct slowest slowest;

static struct explained fault_of(uint32_t tid, uint64_t start_ns, uint64_t duration_ns)
{
	return (struct explained){
		.pid = 1,
		.tid = tid,
		.start_ns = start_ns,
		.end_ns = start_ns + duration_ns,
	};
}

static void add_fault(const struct explained *fault)
{
	ck_assert_int_eq(slowest_add_fault(&slowest, fault, NULL), 0);
}

static struct pfstat_block request_of(uint64_t issue_ns, uint64_t end_ns, uint32_t dev)
{
	return (struct pfstat_block){
		.event = { .type = PFSTAT_EVENT_BLOCK, .tid = 9, .ns = end_ns },
		.insert_ns = issue_ns,
		.issue_ns = issue_ns,
		.dev = dev,
		.bytes = 4096,
	};
}

static void add_request(uint64_t issue_ns, uint64_t end_ns, uint32_t dev)
{
	const struct pfstat_block block = request_of(issue_ns, end_ns, dev);

	ck_assert_int_eq(slowest_add_block(&slowest, &block), 0);
}

static void add_call(uint32_t pid, uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	const struct pfstat_call call = {
		.event = { .type = PFSTAT_EVENT_CALL, .pid = pid, .tid = tid, .ns = end_ns },
		.start_ns = start_ns,
		.kind = PFSTAT_CALL_MADVISE,
	};

	ck_assert_int_eq(slowest_add_call(&slowest, &call, NULL), 0);
}

static const struct slow_fault *nth(unsigned int n)
{
	const struct slow_fault **sorted, *found;

	ck_assert_int_eq(slowest_list(&slowest, &sorted), 0);
	ck_assert_uint_lt(n, slowest.nr);
	found = sorted[n];
	free(sorted);
	return found;
}

TEST(test_only_the_longest_faults_are_kept_in_order)
{
	struct explained fault;
	uint64_t state = 1, durations[1000];
	unsigned int i, j;

	for (i = 0; i < 1000; i++) {
		durations[i] = 1 + random_next(&state) % 500; /* with equal ones */
		fault = fault_of(i, i, durations[i]);
		add_fault(&fault);
	}
	ck_assert_uint_eq(slowest.nr, SLOWEST_FAULTS);
	for (i = 0; i < SLOWEST_FAULTS; i++) {
		unsigned int longer = 0;

		fault = nth(i)->fault;
		for (j = 0; j < 1000; j++) /* at equal durations, the first ones are kept */
			longer += durations[j] > durations[fault.tid] ||
				  (j < fault.tid && durations[j] == durations[fault.tid]);
		ck_assert_uint_eq(longer, i);
	}
	ck_assert_ptr_eq(slowest_longest(&slowest), nth(0));
	slowest_exit(&slowest);
}

TEST(test_as_many_faults_are_kept_as_were_requested)
{
	struct explained fault;
	unsigned int i;

	slowest.max = 3;
	for (i = 0; i < 5; i++) {
		fault = fault_of(i, 100 * i, i); /* the first takes no time */
		add_fault(&fault);
	}
	ck_assert_uint_eq(slowest.nr, 3);
	ck_assert_uint_eq(nth(0)->fault.tid, 4);
	ck_assert_uint_eq(nth(2)->fault.tid, 2);
	slowest_exit(&slowest);
	ck_assert_ptr_null(slowest_longest(&slowest));
}

/*
 *	|----- r0 -----|
 *	   |-- r1 --|          issue of `own` at 100
 *	       |------ own ------|
 *	      |-------------------------- late --|
 *	          |-- after --|                       also another disk, all the time
 */
TEST(test_requests_in_flight_are_those_of_its_disk_when_its_own_was_issued)
{
	struct explained fault = fault_of(1, 90, 300);

	fault.requests[fault.nr_requests++] = request_of(100, 300, DISK);
	fault.requests[fault.nr_requests++] = request_of(210, 320, DISK);
	add_request(1, 100, DISK); /* complete when it was issued */
	add_request(20, 150, DISK);
	add_request(10, 200, DISK);
	add_request(101, 250, DISK);
	add_request(10, 280, DISK + 1);
	add_request(100, 300, DISK);
	add_request(210, 320, DISK);
	add_fault(&fault);
	ck_assert_uint_eq(nth(0)->in_flight[0], 3);
	ck_assert_uint_eq(nth(0)->in_flight[1], 3); /* with those issued at 100 and 101 */
	add_request(95, 1000, DISK);		    /* completed after the fault */
	add_request(95, 1000, DISK + 1);
	add_request(101, 1001, DISK);
	ck_assert_uint_eq(nth(0)->in_flight[0], 4);
	ck_assert_uint_eq(nth(0)->in_flight[1], 5);
	slowest_exit(&slowest);
}

TEST(test_requests_in_flight_are_not_known_after_too_many_completions)
{
	struct explained fault = fault_of(1, 0, 10000000);
	unsigned int i;

	fault.requests[fault.nr_requests++] = request_of(100, 9000, DISK);
	add_request(100, 200, DISK);
	for (i = 1; i < DEVICE_LOAD_REQUESTS; i++)
		add_request(1000 + i, 2000 + i, DISK);
	add_fault(&fault);
	ck_assert_uint_eq(nth(0)->in_flight[0], 1);
	add_request(5000, 6000, DISK);
	fault.tid = 2;
	fault.end_ns++;
	add_fault(&fault);
	ck_assert_uint_eq(nth(0)->in_flight[0], 0);
	add_request(50, 7000, DISK);
	ck_assert_uint_eq(nth(0)->in_flight[0], 0);
	ck_assert_uint_eq(nth(1)->in_flight[0], 2);
	slowest_exit(&slowest);
}

TEST(test_calls_of_other_threads_of_the_process_are_noted_by_their_share)
{
	struct explained fault = fault_of(1, 1000, 1000);
	const struct slow_fault *slow;
	unsigned int i;

	add_call(1, 2, 500, 1000); /* over before the fault */
	add_call(1, 3, 500, 1100);
	add_call(1, 1, 1000, 2000); /* the faulting thread */
	add_call(2, 4, 1000, 2000); /* another process */
	add_fault(&fault);
	slow = nth(0);
	ck_assert_uint_eq(slow->nr_calls, 1);
	add_call(1, 5, 1200, 5000); /* it returns after the fault */
	add_call(1, 6, 2000, 6000); /* it began after the fault */
	ck_assert_uint_eq(slow->nr_calls, 2);
	ck_assert_uint_eq(slow->calls[0].event.tid, 5);
	ck_assert_uint_eq(slow_fault_shared_ns(slow, &slow->calls[0]), 800);
	ck_assert_uint_eq(slow->calls[1].event.tid, 3);
	ck_assert_uint_eq(slow_fault_shared_ns(slow, &slow->calls[1]), 100);
	for (i = 0; i < SLOW_CALLS; i++)
		add_call(1, 10 + i, 1500 + i, 7000);
	ck_assert_uint_eq(slow->nr_calls, SLOW_CALLS);
	ck_assert_uint_eq(slow->calls_left_out, 2);
	ck_assert_uint_eq(slow->calls[0].event.tid, 5);
	ck_assert_uint_eq(slow->calls[1].event.tid, 10);
	ck_assert_uint_eq(slow->calls[SLOW_CALLS - 1].event.tid, 12);
	slowest_exit(&slowest);
}

static void add_item(struct analysis *analysis, enum item_type type, const void *data, uint64_t ns)
{
	const struct item item = { .type = type, .ns = ns, .record = data };

	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void add_name(struct analysis *analysis, uint32_t tid, const char *comm)
{
	struct pfstat_task task = {
		.event = { .type = PFSTAT_EVENT_TASK, .size = sizeof(task), .pid = 1, .tid = tid }
	};

	strcpy(task.comm, comm);
	add_item(analysis, ITEM_EVENT, &task, 0);
}

static void add_wait(struct analysis *analysis, uint64_t off_ns, const char *functions)
{
	struct pfstat_wait wait = { .event = { .type = PFSTAT_EVENT_WAIT,
					       .size = sizeof(wait),
					       .tid = 7,
					       .flags = PFSTAT_WAIT_NAMED,
					       .ns = off_ns },
				    .off_ns = off_ns };

	strcpy(wait.functions, functions);
	add_item(analysis, ITEM_EVENT, &wait, off_ns);
}

/* Thread 7 sleeps for a request reading this page, then for a lock that thread 8 releases. */
static void add_story(struct analysis *analysis)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 1,
			   .tid = 7,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = 300000 },
		.insert_ns = 110000,
		.issue_ns = 120000,
		.inode = 77,
		.pgoff = 5,
		.fs_dev = 9,
		.dev = DISK,
		.bytes = 8192,
		.file_bytes = 8192,
	};
	const struct pfstat_off_cpu disk = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(disk),
			   .pid = 1,
			   .tid = 7,
			   .flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_IOWAIT,
			   .ns = 320000 },
		.off_ns = 115000,
		.woken_ns = 300000,
		.state = 2,
	};
	const struct pfstat_off_cpu lock = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(lock),
			   .pid = 1,
			   .tid = 7,
			   .flags = PFSTAT_OFF_CPU_WOKEN | PFSTAT_OFF_CPU_AFTER_TASK |
				    (PFSTAT_WAKER_CALL + 11U) << PFSTAT_OFF_CPU_WAKER_SHIFT,
			   .ns = 950000 },
		.off_ns = 330000,
		.woken_ns = 900000,
		.state = 2,
		.waker = 8,
	};
	const struct pfstat_cpu_task task = {
		.event = { .type = PFSTAT_EVENT_CPU_TASK,
			   .size = sizeof(task),
			   .pid = 1,
			   .tid = 7,
			   .ns = 950000 },
		.off_ns = 330000,
		.ran_ns = 40000,
		.task_pid = 66,
		.task_tid = 67,
		.comm = "compiler",
	};
	const struct pfstat_record record = {
		.op = PFSTAT_OP_FAULT,
		.class = PFSTAT_CLASS_DISK,
		.pid = 1,
		.tid = 7,
		.inode = 77,
		.dev = 9,
		.pgoff = 5,
		.address = 0x10005000,
		.start_ns = 100000,
		.duration_ns = 900000,
		.result = PFSTAT_RESULT_MAJOR | PFSTAT_RESULT_LOCKED,
		.flags = PFSTAT_FLAG_USER,
	};

	add_name(analysis, 7, "reader");
	add_name(analysis, 8, "writer");
	add_wait(analysis, 115000, "folio_wait_bit_common<filemap_fault");
	add_item(analysis, ITEM_EVENT, &block, 300000);
	add_item(analysis, ITEM_EVENT, &disk, 320000);
	add_wait(analysis, 330000, "rwsem_down_read_slowpath<lock_mm_and_find_vma");
	add_item(analysis, ITEM_EVENT, &task, 950000);
	add_item(analysis, ITEM_EVENT, &lock, 950000);
	add_item(analysis, ITEM_RECORD, &record, 1000000);
}

TEST(test_a_slow_fault_has_its_requests_its_wakers_and_its_stacks)
{
	struct analysis *analysis = analysis_new(true, 4096, 0);
	const struct explained *fault;
	const struct slow_fault *slow;
	struct slow_names names;
	unsigned int i, locks = 0;

	ck_assert_ptr_nonnull(analysis);
	add_story(analysis);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	slow = slowest_longest(analysis_slowest(analysis));
	ck_assert_ptr_nonnull(slow);
	fault = &slow->fault;
	ck_assert_uint_eq(fault->nr_requests, 1);
	ck_assert_uint_eq(fault->requests[0].bytes, 8192);
	ck_assert(!fault->more_requests);
	ck_assert_uint_eq(slow->in_flight[0], 1);
	ck_assert_int_eq(analysis_slow_names(analysis, slow, &names), 0);
	ck_assert_str_eq(names.place.thread, "reader");
	ck_assert_ptr_null(names.files[0]);
	for (i = 0; i < fault->nr_spans; i++) {
		if (fault->spans[i].part != PART_BLOCKED) {
			ck_assert_uint_eq(fault->spans[i].waker, 0);
			/* A request, or the lack of a CPU, explains the wait. */
			ck_assert_uint_ne(fault->spans[i].wait, 0);
			ck_assert_ptr_null(names.waits[i]);
			if (fault->spans[i].to_ns == 950000) {
				ck_assert_str_eq(names.tasks[i]->comm, "compiler");
				ck_assert_uint_eq(names.tasks[i]->pid, 66);
				ck_assert_uint_eq(fault->spans[i].task_ran_ns, 40000);
			} else {
				ck_assert_ptr_null(names.tasks[i]);
			}
			continue;
		}
		locks++;
		ck_assert_uint_eq(fault->spans[i].waker, 8);
		ck_assert_uint_eq(fault->spans[i].waker_doing, PFSTAT_WAKER_CALL + 11);
		ck_assert_str_eq(names.waits[i]->cause, "mmap_lock");
	}
	ck_assert_uint_eq(locks, 1);
	ck_assert_str_eq(slow_fault_thread(slow, 8), "writer");
	ck_assert_str_eq(slow_fault_thread(slow, 9), "");
	slow_names_exit(&names);
	analysis_free(analysis);
}

/* Thread 8 calls madvise() during the fault. A shorter memory fault follows. */
static void add_rest(struct analysis *analysis)
{
	const struct pfstat_call call = {
		.event = { .type = PFSTAT_EVENT_CALL,
			   .size = sizeof(call),
			   .pid = 1,
			   .tid = 8,
			   .ns = 1200000 },
		.start_ns = 200000,
		.args = { 0x10000000, 4096, 4 },
		.kind = PFSTAT_CALL_MADVISE,
	};
	const struct pfstat_fault fault = {
		.event = { .type = PFSTAT_EVENT_FAULT,
			   .size = sizeof(fault),
			   .flags = PFSTAT_FAULT_ANON,
			   .pid = 1,
			   .tid = 8,
			   .ns = 1500000 },
		.start_ns = 1490000,
		.address = 0x7f0000000010,
		.fault_flags = PFSTAT_FLAG_WRITE,
		.result = PFSTAT_RESULT_OOM,
		.outcome = PFSTAT_OUTCOME_ERROR,
	};

	add_item(analysis, ITEM_EVENT, &call, 1200000);
	add_item(analysis, ITEM_EVENT, &fault, 1500000);
}

struct printed_story {
	struct sample_run run;
	struct analysis *analysis;
	struct report_slow rows[2];
};

/* A sample run whose longest faults are the story's faults. */
static void story_open(struct printed_story *story)
{
	struct report_slowest *printed = &story->run.report.slowest;
	const struct slow_fault **sorted;

	sample_open(&story->run, 100000);
	story->analysis = analysis_new(true, 4096, 0);
	ck_assert_ptr_nonnull(story->analysis);
	add_story(story->analysis);
	add_rest(story->analysis);
	ck_assert_int_eq(analysis_finish(story->analysis), 0);
	ck_assert_int_eq(slowest_list(analysis_slowest(story->analysis), &sorted), 0);
	for (printed->nr = 0; printed->nr < 2; printed->nr++) {
		story->rows[printed->nr].slow = sorted[printed->nr];
		ck_assert_int_eq(analysis_slow_names(story->analysis, sorted[printed->nr],
						     &story->rows[printed->nr].names),
				 0);
	}
	free(sorted);
	printed->rows = story->rows;
	printed->start_ns = 60000;
	printed->wanted = true;
}

static void story_close(struct printed_story *story)
{
	slow_names_exit(&story->rows[0].names);
	slow_names_exit(&story->rows[1].names);
	analysis_free(story->analysis);
	sample_close(&story->run);
}

static void check_story(const char *test, struct printed_story *story, enum report_format format)
{
	char *text = sample_print(format, &story->run.report, 1);

	golden_check_of("slowest", test, text);
	free(text);
}

TEST(test_the_longest_faults_are_printed_with_what_they_waited_for)
{
	static struct printed_story story;

	story_open(&story);
	check_story(__func__, &story, REPORT_TABLE);
	story.run.report.slowest.start_ns = COUNT_NA;
	story.run.report.bpf.hooks &= ~(1U << HOOK_BLOCK | 1U << HOOK_WAIT_STACK);
	check_story(__func__, &story, REPORT_TABLE);
	story_close(&story);
}

static void check_slowest_in_json(const char *test, struct printed_story *story)
{
	char *text = sample_print(REPORT_JSON, &story->run.report, 1), *list, *line;
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct schema schema = schema_load();

	ck_assert_ptr_nonnull(json);
	ck_assert_msg(schema_accepts(&schema, schema.root, json, "$"), "%s", schema.why);
	list = json_dumps(json_object_get(json, "slowest"), JSON_INDENT(1));
	ck_assert_ptr_nonnull(list);
	ck_assert_int_gt(asprintf(&line, "%s\n", list), 0);
	golden_check_of("slowest", test, line);
	free(line);
	free(list);
	free(text);
	json_decref(json);
	json_decref((json_t *)schema.root);
}

TEST(test_the_longest_faults_are_in_json)
{
	static struct printed_story story;

	story_open(&story);
	check_slowest_in_json(__func__, &story);
	story_close(&story);
}

TEST(test_what_perf_cannot_know_of_the_longest_faults_is_named)
{
	static struct printed_story story;
	struct explained *fault;

	story_open(&story);
	story.run.report.bpf.hooks = 1U << HOOK_PERF;
	fault = &((struct slow_fault *)story.rows[0].slow)->fault;
	fault->perf = PFSTAT_PERF_SAMPLED;
	fault->nr_requests = 0;
	check_slowest_in_json(__func__, &story);
	check_story(__func__, &story, REPORT_TABLE);
	story.run.report.slowest.nr = 0;
	check_story(__func__, &story, REPORT_TABLE);
	story_close(&story);
}
