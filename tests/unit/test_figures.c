// SPDX-License-Identifier: GPL-2.0-only
/* Figures for known runs: their counts and their sentences. */
#include <math.h>
#include <string.h>

#include "runner.h"
#include "user/figures/figures.h"

#define MS 1000000ULL

static struct analysis *analysis;
static struct figures figures;
static struct report report;
static struct run_counters counters;
static uint64_t now_ns;

static void begin(void)
{
	analysis = analysis_new(true, 4096, 0);
	ck_assert_ptr_nonnull(analysis);
	ck_assert_int_eq(figures_open(&figures, analysis), 0);
	report_init(&report);
	strcpy(report.environment.kind, "drive");
	strcpy(report.environment.file, "/f");
	run_counters_init(&counters);
	counters.have_bpf = true;
	counters.hooks = (1U << HOOK_PERF) - 1;
	now_ns = 1000 * MS;
}

static void add(enum item_type type, const void *data)
{
	struct item item = { .type = type, .ns = now_ns };

	item.record = data;
	ck_assert_int_eq(figures_item(&figures, &item), 0);
	ck_assert_int_eq(analysis_add(analysis, &item), 0);
}

static void fault(uint32_t tid, uint64_t page, uint64_t ns, enum pfstat_class class)
{
	const struct pfstat_record record = {
		.pid = 1,
		.tid = tid,
		.dev = 1,
		.inode = 5,
		.pgoff = page,
		.address = page * 4096,
		.start_ns = now_ns,
		.duration_ns = ns,
		.class = class,
		.result = PFSTAT_RESULT_LOCKED,
	};

	now_ns += ns;
	add(ITEM_RECORD, &record);
}

static void read_pages_of(uint64_t inode, uint64_t page, uint32_t pages)
{
	const struct pfstat_block block = {
		.event = { .type = PFSTAT_EVENT_BLOCK,
			   .size = sizeof(block),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_BLOCK_FILE,
			   .ns = now_ns },
		.insert_ns = now_ns,
		.issue_ns = now_ns,
		.inode = inode,
		.fs_dev = 1,
		.pgoff = page,
		.bytes = pages * 4096,
		.file_bytes = pages * 4096,
	};

	add(ITEM_EVENT, &block);
}

static void read_pages(uint64_t page, uint32_t pages)
{
	read_pages_of(5, page, pages);
}

static void remove_pages(uint32_t pid, uint64_t page, uint32_t pages, uint32_t flags)
{
	const struct pfstat_page event = {
		.event = { .type = PFSTAT_EVENT_PAGE,
			   .size = sizeof(event),
			   .flags = flags,
			   .pid = pid,
			   .tid = pid,
			   .ns = now_ns },
		.inode = 5,
		.dev = 1,
		.pgoff = page,
		.pages = pages,
		.comm = "hog",
	};

	add(ITEM_EVENT, &event);
}

static void evict_pages_by(uint32_t pid, uint64_t page, uint32_t pages)
{
	remove_pages(pid, page, pages, 0);
}

static void reclaim_page(uint64_t page)
{
	remove_pages(1, page, 1, PFSTAT_PAGE_RECLAIMED);
}

static void evict_pages(uint64_t page, uint32_t pages)
{
	evict_pages_by(2, page, pages);
}

static void draw(void)
{
	const struct figure_source source = { &report, analysis };

	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(report_fill(&report, analysis, &counters), 0);
	ck_assert_int_eq(figures_draw(&figures, &source), 0);
}

static void end(void)
{
	figures_close(&figures);
	report_exit(&report);
	run_counters_exit(&counters);
	analysis_free(analysis);
}

static const struct drawing *drawing_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < FIGURES_NR; i++)
		if (!strcmp(figures.drawings[i].name, name))
			return &figures.drawings[i];
	ck_abort_msg("no figure is called %s", name);
	return NULL;
}

static void says(const char *name, enum drawing_text text, const char *expected)
{
	const char *said = drawing_of(name)->texts[text];

	ck_assert_msg(strstr(said, expected), "%s says: %s", name, said);
}

/* The sum of a column (the first is 0) over rows whose column `where`, if given, is `is`. */
static double sum_where(const char *name, unsigned int column, unsigned int where, const char *is)
{
	const char *line = strchr(drawing_of(name)->texts[DRAWING_CSV], '\n') + 1, *cell;
	double sum = 0;
	unsigned int i;

	for (; *line; line = strchr(line, '\n') + 1) {
		for (cell = line, i = 0; is && i < where; i++)
			cell = strchr(cell, ',') + 1;
		if (is && strncmp(cell, is, strlen(is)))
			continue;
		for (cell = line, i = 0; i < column; i++)
			cell = strchr(cell, ',') + 1;
		sum += strtod(cell, NULL);
	}
	return sum;
}

static double sum_of(const char *name, unsigned int column)
{
	return sum_where(name, column, 0, NULL);
}

/* A cell in the last row. */
static double last_of(const char *name, unsigned int column)
{
	const char *csv = drawing_of(name)->texts[DRAWING_CSV], *cell = csv + strlen(csv) - 1;

	while (cell[-1] != '\n')
		cell--;
	for (; column; column--)
		cell = strchr(cell, ',') + 1;
	return strtod(cell, NULL);
}

TEST(test_order_counts_steps_forward_and_back)
{
	uint64_t page;

	begin();
	for (page = 0; page < 6; page++)
		fault(1, page, 1000, PFSTAT_CLASS_LONG);
	fault(1, 100, 1000, PFSTAT_CLASS_DISK);
	fault(1, 100, 300, PFSTAT_CLASS_SHORT); /* the same page: not a step */
	fault(1, 50, 1000, PFSTAT_CLASS_LONG);
	fault(1, 51, 100, PFSTAT_CLASS_PASS); /* not counted, but the next call is */
	fault(1, 51, 1000, PFSTAT_CLASS_LONG);
	draw();
	says("order", DRAWING_READING,
	     "/f: pages 0 to 100. Of the steps from one page to another, "
	     "75.0 % went to the next page, 12.5 % further ahead, 12.5 % back.");
	says("order", DRAWING_AMOUNT, "10 calls, one mark each.");
	ck_assert_uint_eq(drawing_rows(drawing_of("order")), 10);
	says("cost", DRAWING_READING,
	     "1 call of disk, wait and readahead took "
	     "1.00 µs on average");
	end();
}

/* The table below subtracts them, so the table's means differ from those in the figure. */
TEST(test_figure_notes_times_that_are_not_subtracted)
{
	static const char told[] = "These times include the module's own time";

	begin();
	report.cost.subtract = true;
	counters.inside_ps = 27500;
	fault(1, 0, 1000, PFSTAT_CLASS_DISK);
	draw();
	says("cost", DRAWING_READING,
	     "1 call of disk, wait and readahead took "
	     "1.00 µs on average");
	says("cost", DRAWING_READING, told);
	end();
	/* The cost is unknown, and the table did not subtract it either. */
	begin();
	report.cost.subtract = true;
	counters.inside_ps = COUNT_NA;
	fault(1, 0, 1000, PFSTAT_CLASS_DISK);
	draw();
	ck_assert_ptr_null(strstr(drawing_of("cost")->texts[DRAWING_READING], told));
	end();
}

TEST(test_a_class_of_one_bin_is_drawn)
{
	const char *csv;

	begin();
	fault(1, 0, 1000, PFSTAT_CLASS_LONG);
	draw();
	csv = drawing_of("latency")->texts[DRAWING_CSV];
	/* Empty bins on both sides make it a step. */
	ck_assert_str_eq(csv, "class,from_us,to_us,faults\nlong,0.7241,0.8611,0\n"
			      "long,0.8611,1.0240,1\nlong,1.0240,1.2177,0\n");
	end();
}

/* gnuplot 6 fills the style "histeps", and gnuplot 5 does not. */
TEST(test_no_version_of_gnuplot_fills_a_distribution)
{
	begin();
	fault(1, 1, 1000, PFSTAT_CLASS_LONG);
	draw();
	ck_assert_ptr_nonnull(strstr(drawing_of("latency")->texts[DRAWING_SCRIPT], "with steps"));
	ck_assert_ptr_nonnull(strstr(drawing_of("cumulative")->texts[DRAWING_SCRIPT],
				     "with lines"));
	end();
}

TEST(test_pages_of_memory_count_from_the_first)
{
	const uint64_t address = 0x7f3400001000;
	struct pfstat_fault event = {
		.event = { .type = PFSTAT_EVENT_FAULT, .size = sizeof(event), .pid = 1, .tid = 1 },
		.outcome = PFSTAT_OUTCOME_MINOR,
	};
	unsigned int i;

	begin();
	event.event.flags = PFSTAT_FAULT_ANON;
	for (i = 0; i < 3; i++) {
		event.start_ns = now_ns;
		event.event.ns = now_ns += 1000;
		event.address = address + i * 4096;
		event.pgoff = event.address >> 12;
		add(ITEM_EVENT, &event);
	}
	draw();
	ck_assert_double_eq(sum_of("heat", 2), 0 + 1 + 2);
	ck_assert_double_eq(sum_of("order", 3), 0 + 1 + 2);
	ck_assert_ptr_nonnull(strstr(drawing_of("heat")->texts[DRAWING_SCRIPT],
				     "set ylabel 'page, from address 0x7f3400001000 on'\n"));
	ck_assert_ptr_nonnull(strstr(drawing_of("heat")->texts[DRAWING_SCRIPT],
				     "set yrange [0:3] noextend\n"));
	end();
}

TEST(test_boxes_of_few_reads_are_wide_enough_to_be_seen)
{
	begin();
	read_pages(0, 8);
	now_ns += 1600 * MS;
	read_pages(8, 8);
	draw();
	/* 0.4 % of 1600 ms, where the read has 13 */
	ck_assert_ptr_nonnull(strstr(drawing_of("readahead")->texts[DRAWING_SCRIPT],
				     ":(1*$1):(1*($2 > $1 + 6."));
	end();
}

/* Half a million calls in random order: fewer marks, but all calls are counted. */
TEST(test_many_calls_become_fewer_marks)
{
	uint64_t i, state = 1;

	begin();
	for (i = 0; i < 500000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		fault(1, state >> 48, 100 + (state >> 40 & 0xfff), PFSTAT_CLASS_LONG);
	}
	draw();
	ck_assert_uint_le(drawing_rows(drawing_of("order")), 8000);
	ck_assert_uint_ge(drawing_rows(drawing_of("order")), 2000);
	ck_assert_double_eq(sum_of("order", 5), 500000);
	ck_assert_double_eq(sum_of("cost", 5), 500000);
	ck_assert_double_eq(sum_of("heat", 4), 500000);
	ck_assert_double_eq(sum_of("latency", 3), 500000);
	says("order", DRAWING_AMOUNT, "500000 calls in ");
	end();
}

TEST(test_readahead_counts_mapped_evicted_and_unused_pages)
{
	uint64_t page;

	begin();
	report.environment.readahead_bytes = 131072;
	read_pages(0, 32);
	fault(1, 0, 100000, PFSTAT_CLASS_DISK);
	now_ns += 50 * MS;
	for (page = 1; page < 25; page++)
		fault(1, page, 400, PFSTAT_CLASS_LONG);
	evict_pages(28, 4);
	now_ns += 50 * MS;
	read_pages(1000, 8);
	draw();
	/*
	 * 25 of 40 pages mapped, four evicted, eleven unused, in the row for the read's own time.
	 */
	ck_assert_double_eq(sum_of("readahead", 4), 40);
	ck_assert_double_eq(sum_of("readahead", 5), 25);
	ck_assert_double_eq(sum_of("readahead", 6), 4);
	ck_assert_double_eq(sum_of("readahead", 7), 11);
	says("readahead", DRAWING_READING, "40 pages were read, and 62.5 % of them mapped");
	says("readahead", DRAWING_READING,
	     "Read-ahead of 128 KiB covered 96.0 % of the mapped "
	     "pages; 1 disk fault started a read.");
	end();
}

/* Pages read before a file was dropped are not in the boxes that the file gets later. */
TEST(test_a_restored_file_has_none_of_its_former_pages)
{
	uint64_t inode, page;

	begin();
	read_pages(0, 16);
	/* More files than the limit, each with more pages: the first file is dropped. */
	for (inode = 100; inode < 116; inode++)
		read_pages_of(inode, 0, 40);
	/*
	 * 80 pages are known then, twice as many as the smallest file has: the next read restores
	 * it.
	 */
	read_pages(3000, 64);
	/* The first of these boxes also covers the earlier pages. */
	read_pages(16, 48);
	read_pages(1000, 40);
	for (page = 0; page < 32; page++)
		fault(1, page, 400, PFSTAT_CLASS_LONG);
	draw();
	ck_assert_double_eq(sum_of("readahead", 4), 88);
	ck_assert_double_eq(sum_of("readahead", 5), 16);
	ck_assert_double_eq(sum_of("readahead", 7), 72);
	says("readahead", DRAWING_AMOUNT, "88 pages of ");
	says("readahead", DRAWING_AMOUNT, " 720 pages in other files are not drawn");
	end();
}

TEST(test_pages_of_a_run_of_days_keep_their_time)
{
	const uint64_t hour_ns = 3600 * 1000 * MS;
	uint64_t page, read_ns;

	begin();
	read_pages(0, 8);
	for (page = 8; page < 1008; page += 8) {
		now_ns += hour_ns + page * 12345;
		read_ns = now_ns;
		read_pages(page, 8);
		fault(1, page, 400, PFSTAT_CLASS_LONG);
	}
	draw();
	ck_assert_double_eq(sum_of("readahead", 4), 1008);
	ck_assert_double_eq(sum_of("readahead", 5), 125);
	/* Rows are in the order of time, so the last read is in the last row. */
	ck_assert_double_le(last_of("readahead", 0), (read_ns - 1000 * MS) / 1e6);
	ck_assert_double_ge(last_of("readahead", 1), (read_ns - 1000 * MS) / 1e6);
	end();
}

TEST(test_where_the_time_went_adds_up)
{
	const struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_OFF_CPU_IOWAIT | PFSTAT_OFF_CPU_WOKEN,
			   .ns = 1000 * MS + 90000 },
		.off_ns = 1000 * MS + 10000,
		.woken_ns = 1000 * MS + 80000,
		.state = 2,
	};

	begin();
	now_ns += 90000;
	add(ITEM_EVENT, &stay);
	now_ns -= 90000;
	fault(1, 0, 100000, PFSTAT_CLASS_WAIT);
	fault(1, 1, 20000, PFSTAT_CLASS_LONG);
	draw();
	ck_assert_double_eq_tol(sum_of("parts", 5), 0.12, 0.000000001);
	ck_assert_double_eq_tol(sum_where("parts", 5, 2, "foreign"), 0.07, 0.000000001);
	ck_assert_double_eq_tol(sum_where("parts", 5, 2, "runqueue"), 0.01, 0.000000001);
	says("parts", DRAWING_READING,
	     "83.3 % of it went to 1 fault of the class “met a page being read” (wait), and "
	     "70.0 % of that to “asleep, I/O of others” (foreign).");
	end();
}

/* Time that the lanes show in a state, or in all states (NULL). */
static double drawn_ms(const char *state)
{
	const char *line = strchr(drawing_of("timeline")->texts[DRAWING_CSV], '\n') + 1, *cell;
	double row[7], sum = 0;
	unsigned int i;

	for (; *line; line = strchr(line, '\n') + 1) {
		for (cell = line, i = 0; i < 7; cell = strpbrk(cell, ",\n") + 1, i++)
			row[i] = strtod(cell, NULL);
		ck_assert_double_ge(row[2], 0);
		ck_assert_double_le(row[6], 100);
		if (!state || row[4] == strtod(state, NULL))
			sum += (row[3] - row[2]) * (row[6] - row[5]) / 100;
	}
	return sum;
}

/* Columns are merged while the run continues: a lane still has all the thread's time. */
TEST(test_a_lane_has_all_of_its_threads_time)
{
	uint64_t i;

	begin();
	for (i = 0; i < 400; i++) {
		fault(1 + i % 2, i, 30000 + i * 10, PFSTAT_CLASS_LONG);
		now_ns += i * 10000;
	}
	draw();
	/* 400 faults of 30 µs and more. */
	ck_assert_double_eq_tol(drawn_ms(NULL), 12.798, 0.001);
	says("timeline", DRAWING_AMOUNT, "400 logical faults and 0 off-CPU intervals of 2 threads");
	end();
}

/* Also if the share in a column is tiny, and if it took no time at all. */
TEST(test_short_faults_of_a_long_run_are_drawn)
{
	unsigned int i;

	begin();
	for (i = 0; i < 20; i++) {
		fault(1, i, 500, PFSTAT_CLASS_LONG);
		now_ns += 1000 * MS;
	}
	draw();
	ck_assert_uint_eq(drawing_rows(drawing_of("timeline")), 20);
	ck_assert_double_eq_tol(drawn_ms("0"), 0.01, 0.0001);
	end();
	begin();
	fault(1, 0, 0, PFSTAT_CLASS_LONG);
	draw();
	says("timeline", DRAWING_MISSING, "no page fault took any time");
	end();
}

/* Faults arrive in the order of their ends. */
TEST(test_timeline_orders_faults_by_their_start)
{
	begin();
	now_ns += 90 * MS;
	fault(2, 0, MS, PFSTAT_CLASS_LONG);
	now_ns = 1001 * MS;
	fault(1, 0, 99 * MS, PFSTAT_CLASS_DISK);
	now_ns = 1110 * MS;
	fault(2, 1, MS, PFSTAT_CLASS_LONG);
	draw();
	says("timeline", DRAWING_READING, "thread 1 was in faults for 99.0 ms of 110 ms");
	ck_assert_double_eq_tol(drawn_ms(NULL), 101, 0.001);
	/* In the order of time: at 0, 89 and 109 ms after the first one began. */
	ck_assert_uint_eq(drawing_rows(drawing_of("heat")), 3);
	ck_assert_double_eq_tol(sum_of("heat", 0), 0 + 89 + 109, 3);
	ck_assert_double_eq_tol(last_of("heat", 0), 109, 1.5);
	end();
}

TEST(test_threads_without_a_lane_are_counted_separately)
{
	unsigned int i;

	begin();
	for (i = 0; i < 200; i++)
		fault(1 + i % 20, i, 1000, PFSTAT_CLASS_LONG);
	draw();
	says("timeline", DRAWING_AMOUNT,
	     "120 logical faults and 0 off-CPU intervals of 12 threads");
	says("timeline", DRAWING_AMOUNT, " 80 faults in other threads are not drawn.");
	end();
}

TEST(test_timeline_without_ebpf_has_no_cpu_time)
{
	begin();
	counters.have_bpf = false;
	fault(1, 0, 5 * MS, PFSTAT_CLASS_DISK);
	draw();
	says("timeline", DRAWING_READING, "in faults for 5.00 ms of 5.00 ms.");
	says("timeline", DRAWING_AMOUNT, "1 logical fault of 1 thread, ");
	says("timeline", DRAWING_SCRIPT, "title 'in a fault'\n");
	ck_assert_ptr_null(strstr(drawing_of("timeline")->texts[DRAWING_SCRIPT], "off the CPU"));
	end();
}

/* The fault has more off-CPU intervals than the limit. */
TEST(test_all_sleeps_of_a_fault_count_as_off_cpu)
{
	struct pfstat_off_cpu stay = {
		.event = { .type = PFSTAT_EVENT_OFF_CPU,
			   .size = sizeof(stay),
			   .pid = 1,
			   .tid = 1,
			   .flags = PFSTAT_OFF_CPU_IOWAIT | PFSTAT_OFF_CPU_WOKEN },
		.state = 2,
	};
	const uint64_t start_ns = 1000 * MS;
	unsigned int i;

	begin();
	for (i = 0; i < 20; i++) {
		stay.off_ns = start_ns + i * 100000 + 5000;
		stay.woken_ns = stay.off_ns + 80000;
		stay.event.ns = stay.off_ns + 90000;
		now_ns = stay.event.ns;
		add(ITEM_EVENT, &stay);
	}
	now_ns = start_ns;
	fault(1, 0, 2 * MS, PFSTAT_CLASS_WAIT);
	draw();
	says("timeline", DRAWING_READING,
	     "in faults for 2.00 ms of 2.00 ms, 1.80 ms of it off the "
	     "CPU.");
	ck_assert_double_eq_tol(drawn_ms("0"), 0.2, 0.001);
	ck_assert_double_eq_tol(drawn_ms("1"), 1.8, 0.001);
	ck_assert_double_eq(drawn_ms("2"), 0);
	end();
}

TEST(test_heat_distinguishes_bursts_from_an_even_stream)
{
	uint64_t i;

	begin();
	for (i = 0; i < 1000; i++) {
		fault(1, i, 1000, PFSTAT_CLASS_LONG);
		now_ns += i == 500 ? 100 * MS : 0;
	}
	draw();
	says("heat", DRAWING_READING, "they came in bursts");
	/* Boxes of 32 pages, 32 faults at most: by powers, 32^(5/6) is 17.96. */
	says("heat", DRAWING_SCRIPT, "title '18–32 faults'");
	end();
	begin();
	for (i = 0; i < 1000; i++) {
		fault(1, i, 1000, PFSTAT_CLASS_LONG);
		now_ns += MS;
	}
	draw();
	says("heat", DRAWING_READING, ": evenly.");
	end();
	/* Too few faults: each has a separate column, and most columns have none. */
	begin();
	for (i = 0; i < 20; i++) {
		fault(1, i, 1000, PFSTAT_CLASS_LONG);
		now_ns += 1000 * MS;
	}
	draw();
	ck_assert_str_eq(drawing_of("heat")->texts[DRAWING_READING], "/f.");
	end();
}

/* Boxes of one to seven faults: none has the second level, since ln 2 / ln 7 is in the third. */
TEST(test_an_unused_level_is_not_in_the_key)
{
	unsigned int box, i;

	begin();
	for (box = 1; box <= 7; box++) {
		for (i = 0; i < box; i++)
			fault(1, 1000 * box, 1000, PFSTAT_CLASS_LONG);
		now_ns += 100 * MS;
	}
	draw();
	ck_assert_ptr_null(strstr(drawing_of("heat")->texts[DRAWING_SCRIPT], "2–1"));
	says("heat", DRAWING_SCRIPT, "title '1'");
	says("heat", DRAWING_SCRIPT, "title '2'");
	end();
}

TEST(test_evictions_name_the_evictors)
{
	begin();
	read_pages(0, 16);
	fault(1, 0, 100000, PFSTAT_CLASS_DISK);
	evict_pages(0, 16);
	read_pages(0, 8);
	fault(1, 0, 100000, PFSTAT_CLASS_DISK);
	draw();
	ck_assert_double_eq(sum_of("evictions", 5), 8);
	says("evictions", DRAWING_READING,
	     "16 pages were evicted, 8 read again, 100.0 % of these "
	     "after another process had evicted them; 1 fault waited 100 µs");
	says("evictions", DRAWING_SCRIPT, "'1: hog (2)' 1");
	end();
}

/* One page is out at a time. */
TEST(test_memory_that_avoids_each_fault_is_named)
{
	unsigned int i;

	begin();
	read_pages(0, 2);
	for (i = 0; i < 8; i++) {
		reclaim_page(i % 2);
		read_pages(i % 2, 1);
		fault(1, i % 2, 100000, PFSTAT_CLASS_DISK);
	}
	draw();
	says("more_memory", DRAWING_READING,
	     "With 4.0 KiB more, none of 8 faults that waited 800 µs for reclaimed pages would "
	     "have been.");
	ck_assert_double_eq(sum_where("more_memory", 1, 0, "0.004"), 100);
	end();
}

TEST(test_lines_of_more_memory_enclose_what_it_avoids)
{
	unsigned int i;

	begin();
	read_pages(0, 300);
	for (i = 0; i < 300; i++)
		reclaim_page(i);
	for (i = 0; i < 300; i++) {
		read_pages(299 - i, 1);
		fault(1, 299 - i, 100000, PFSTAT_CLASS_DISK);
	}
	draw();
	says("more_memory", DRAWING_SCRIPT, "title 'at least'");
	says("more_memory", DRAWING_AMOUNT, "32 sizes, and none.");
	ck_assert_double_eq(sum_where("more_memory", 2, 0, "0.000"), 0);
	end();
}

/*
 * The evictors beyond the limit are unknown. Whether the process evicted its own pages is also
 * unknown.
 */
TEST(test_evictions_count_pages_of_unknown_evictors)
{
	uint32_t i;

	begin();
	for (i = 0; i < EVICTIONS_MAX_EVICTORS + 16; i++)
		evict_pages_by(10 + i, i, 1);
	for (i = 0; i < EVICTIONS_MAX_EVICTORS + 16; i++)
		read_pages(i, 1);
	draw();
	says("evictions", DRAWING_READING,
	     "1040 read again, 50.8 % of these after another process "
	     "had evicted them; 0 faults waited 0 ns for them. For 512 pages the evictor is not "
	     "known");
	says("evictions", DRAWING_SCRIPT, "'1: (others)' 12");
	says("evictions", DRAWING_SCRIPT, "title 'not distinguished'");
	ck_assert_double_eq(sum_where("evictions", 5, 4, "2"), 512);
	end();
}

TEST(test_figures_without_data_are_not_drawn)
{
	unsigned int i;

	begin();
	draw();
	for (i = 0; i < FIGURES_NR; i++) {
		ck_assert(!drawing_is_drawn(&figures.drawings[i]));
		ck_assert_str_eq(figures.drawings[i].texts[DRAWING_SCRIPT], "");
	}
	says("order", DRAWING_MISSING, "no page fault was recorded");
	says("readahead", DRAWING_MISSING, "nothing was read from a block device");
	says("evictions", DRAWING_MISSING, "no page was evicted");
	end();
}

static void task(uint32_t flags, uint32_t tid, const char *comm)
{
	struct pfstat_task event = {
		.event = { .type = PFSTAT_EVENT_TASK,
			   .size = sizeof(event),
			   .flags = flags,
			   .pid = 1,
			   .tid = tid,
			   .ns = now_ns },
		.parent = tid,
	};

	strcpy(event.comm, comm);
	add(ITEM_EVENT, &event);
}

TEST(test_a_reused_number_is_another_lane)
{
	const char *csv;

	begin();
	task(PFSTAT_TASK_FORK, 7, "postgres");
	fault(7, 0, 3 * MS, PFSTAT_CLASS_LONG);
	task(PFSTAT_TASK_EXIT, 7, "postgres");
	task(PFSTAT_TASK_FORK, 7, "backup.sh");
	fault(7, 1, 5 * MS, PFSTAT_CLASS_LONG);
	draw();
	says("timeline", DRAWING_READING, "backup.sh (7) was in faults for 5.00 ms of 8.00 ms");
	says("timeline", DRAWING_AMOUNT, "2 logical faults and 0 off-CPU intervals of 2 threads");
	csv = drawing_of("timeline")->texts[DRAWING_CSV];
	ck_assert_ptr_nonnull(strstr(csv, "postgres (7)"));
	ck_assert_ptr_nonnull(strstr(csv, "backup.sh (7)"));
	end();
}

/* Threads without a fault leave their slots to threads with faults. */
TEST(test_threads_that_ended_without_a_fault_take_no_lane)
{
	uint32_t tid;

	begin();
	for (tid = 10; tid < 2010; tid++) {
		task(PFSTAT_TASK_FORK, tid, "child");
		task(PFSTAT_TASK_EXIT, tid, "child");
	}
	fault(7, 1, 5 * MS, PFSTAT_CLASS_LONG);
	draw();
	says("timeline", DRAWING_AMOUNT, "1 logical fault and 0 off-CPU intervals of 1 thread,");
	end();
}
