// SPDX-License-Identifier: GPL-2.0-only
/*
 * The prediction of faults under other settings. The measured figures are from Linux 6.18 and ext4
 * with large folios: cold runs of a program that reads a byte of pages of a 256 MiB file, in the
 * order that each test repeats, with ru_majflt and ru_inblock.
 */
#include "analyze/prediction/prediction.h"
#include "runner.h"

#define PAGES 65536U

static struct access accesses[1U << 20];
static size_t nr_accesses;
static uint64_t file_pages, file_window;
static struct access_stream stream;
static struct access_mapping mapping;

static struct fault_prediction predict(const char *kernel,
				       const struct prediction_settings *settings)
{
	const struct access_list list = {
		.kernel = readahead_kernel_find(kernel),
		.large_folios = true,
		.file_pages = &file_pages,
		.file_windows = &file_window,
		.nr_files = 1,
		.streams = &stream,
		.nr_streams = 1,
		.mappings = &mapping,
		.nr_mappings = 1,
		.accesses = accesses,
		.nr_accesses = nr_accesses,
	};
	struct fault_prediction prediction;

	ck_assert_int_eq(fault_prediction_make(&prediction, &list, settings), 0);
	return prediction;
}

static void begin(uint64_t pages)
{
	nr_accesses = 0;
	file_pages = pages;
	stream = (struct access_stream){ 0 };
	mapping = (struct access_mapping){ .end = pages, .address_page = 1U << 20, .data = true };
}

static void access_page(uint64_t page)
{
	ck_assert_uint_lt(nr_accesses, sizeof(accesses) / sizeof(accesses[0]));
	accesses[nr_accesses++] = (struct access){ .page = page };
}

static uint64_t random_state;

static uint64_t xorshift(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void access_in_sequence(uint64_t pages)
{
	uint64_t page;

	begin(PAGES);
	for (page = 0; page < pages; page++)
		access_page(page);
}

static void access_every_20th(void)
{
	uint64_t i;

	begin(PAGES);
	for (i = 0; i < 3000; i++)
		access_page(20 * i);
}

static void access_at_random(void)
{
	unsigned int i;

	begin(PAGES);
	random_state = 88172645463325252ULL;
	for (i = 0; i < 4000; i++)
		access_page(xorshift() % PAGES);
}

static void access_runs(void)
{
	uint64_t first, end, page;
	unsigned int i;

	begin(PAGES);
	random_state = 88172645463325252ULL;
	for (i = 0; i < 1200; i++) {
		first = xorshift() % PAGES;
		end = first + 1 + xorshift() % 24;
		for (page = first; page < end && page < PAGES; page++)
			access_page(page);
	}
}

static void check(uint64_t kib, enum mapping_advice advice, uint64_t major, uint64_t read_pages)
{
	const struct prediction_settings settings = { .window = kib / 4,
						      .around = 16,
						      .advice = advice };
	const struct fault_prediction prediction = predict("6.18.44", &settings);

	ck_assert_msg(prediction.major == major, "%lu KiB: %lu major, not %lu", kib,
		      prediction.major, major);
	ck_assert_msg(!read_pages || prediction.read_pages == read_pages,
		      "%lu KiB: %lu pages read, not %lu", kib, prediction.read_pages, read_pages);
}

TEST(test_sequence_reads_as_measured)
{
	access_in_sequence(16384);
	check(0, MAPPING_MIXED, 16384, 16384);
	check(32, MAPPING_MIXED, 1, 131136 / 8);
	check(128, MAPPING_MIXED, 1, 131328 / 8);
	check(512, MAPPING_MIXED, 1, 132096 / 8);
	check(2048, MAPPING_MIXED, 1, 135168 / 8);
}

TEST(test_stride_reads_as_measured)
{
	access_every_20th();
	check(32, MAPPING_MIXED, 3000, 192000 / 8);
	check(128, MAPPING_MIXED, 2999, 479968 / 8);
	check(512, MAPPING_MIXED, 750, 480352 / 8);
	check(2048, MAPPING_MIXED, 230, 480448 / 8);
}

TEST(test_random_accesses_read_as_measured)
{
	access_at_random();
	check(32, MAPPING_MIXED, 3168, 196888 / 8);
	check(128, MAPPING_MIXED, 1904, 420144 / 8);
	check(512, MAPPING_MIXED, 686, 516696 / 8);
	check(2048, MAPPING_MIXED, 192, 523832 / 8);
}

TEST(test_runs_of_pages_read_as_measured)
{
	access_runs();
	check(0, MAPPING_MIXED, 13470, 13470);
	check(32, MAPPING_MIXED, 1056, 198384 / 8);
	/* Measured: 814 to 820 major faults. */
	check(128, MAPPING_MIXED, 814, 42939);
	check(512, MAPPING_MIXED, 531, 459256 / 8);
	check(2048, MAPPING_MIXED, 171, 521536 / 8);
}

TEST(test_advice_reads_as_measured)
{
	access_at_random();
	check(128, MAPPING_RANDOM, 3888, 3888);
	check(128, MAPPING_SEQUENTIAL, 2059, 0);
	access_runs();
	check(128, MAPPING_RANDOM, 13470, 13470);
	check(128, MAPPING_SEQUENTIAL, 1019, 0);
	access_in_sequence(8192);
	check(128, MAPPING_RANDOM, 8192, 8192);
	check(128, MAPPING_SEQUENTIAL, 1, 0);
}

static struct fault_prediction predict_window(uint64_t window, uint64_t around)
{
	return predict("6.12.118-amd64", &(struct prediction_settings){ .window = window,
									.around = around,
									.advice = MAPPING_MIXED });
}

/*
 * 64 pages in sequence, read-ahead of 8 pages, single-page folios. The miss at 0 reads 0 to 7, with
 * a mark at 6. The mark reads 8 to 15 with a mark at 8, which reads 16 to 23, and so on.
 */
TEST(test_fault_around_hides_accesses_but_no_mark)
{
	struct fault_prediction prediction;
	uint64_t page;

	begin(64);
	for (page = 0; page < 64; page++)
		access_page(page);
	prediction = predict_window(8, 1);
	ck_assert_uint_eq(prediction.major, 1);
	ck_assert_uint_eq(prediction.minor, 63);
	ck_assert_uint_eq(prediction.read_pages, 64);
	ck_assert_uint_eq(prediction.unused_pages, 0);
	prediction = predict_window(8, 16);
	ck_assert_uint_eq(prediction.major, 1);
	/* Page 6, and the first pages of the windows: 8, 16, 24, 32, 40, 48, 56. */
	ck_assert_uint_eq(prediction.minor, 8);
}

/*
 * Fault-around maps 16 pages of each window. Before 7.3 they are hits. The retry of a major fault
 * is none since then, so after 100 misses single pages are read. Code does not count.
 */
TEST(test_linux_7_3_counts_no_pages_around_a_major_fault)
{
	const struct prediction_settings settings = { .window = 32,
						      .around = 16,
						      .advice = MAPPING_MIXED };
	uint64_t i;

	begin(200 * 64);
	for (i = 0; i < 200; i++)
		access_page(32 + 64 * i);
	ck_assert_uint_eq(predict("6.18.0", &settings).read_pages, 200 * 32);
	ck_assert_uint_eq(predict("7.3.0", &settings).read_pages, 100 * 32 + 100);
	mapping.code = true;
	ck_assert_uint_eq(predict("7.3.0", &settings).read_pages, 200 * 32);
}

/* A minor fault whose page fault-around maps is one hit, for the 15 pages beside it as well. */
TEST(test_linux_7_3_counts_fault_around_once)
{
	const struct prediction_settings settings = { .window = 32,
						      .around = 16,
						      .advice = MAPPING_MIXED };
	uint64_t i;

	begin(300 * 64);
	for (i = 0; i < 300; i++) {
		access_page(32 + 64 * i);
		access_page(31 + 64 * i);
	}
	ck_assert_uint_eq(predict("7.3.0", &settings).read_pages, 300 * 32);
}

TEST(test_store_to_a_private_page_maps_no_other_page)
{
	struct fault_prediction prediction;

	begin(64);
	access_page(20);
	accesses[0].write = true;
	access_page(21);
	prediction = predict_window(32, 16);
	ck_assert_uint_eq(prediction.major, 1);
	ck_assert_uint_eq(prediction.minor, 1);
	accesses[0].write = false;
	prediction = predict_window(32, 16);
	ck_assert_uint_eq(prediction.minor, 0);
	ck_assert_uint_eq(prediction.read_pages, 32);
	ck_assert_uint_eq(prediction.unused_pages, 30);
}

TEST(test_advice_is_for_data_only)
{
	const struct prediction_settings settings = { .window = 32,
						      .around = 16,
						      .advice = MAPPING_RANDOM };

	begin(64);
	access_page(32);
	ck_assert_uint_eq(predict("6.18.0", &settings).read_pages, 1);
	mapping.data = false;
	ck_assert_uint_eq(predict("6.12.0", &settings).read_pages, 32);
	mapping.advice = MAPPING_RANDOM;
	ck_assert_uint_eq(predict("6.12.0", &settings).read_pages, 1);
	/* Since 6.17, MADV_RANDOM does not end the read-ahead of code. */
	mapping.code = true;
	ck_assert_uint_eq(predict("6.18.0", &settings).read_pages, 32);
}

TEST(test_recorded_read_ahead_is_that_of_the_file)
{
	begin(64);
	access_page(32);
	file_window = 8;
	ck_assert_uint_eq(predict_window(PREDICTION_RECORDED, 16).read_pages, 8);
}

TEST(test_header_of_an_executed_file_is_read_first)
{
	begin(64);
	stream.executed = true;
	access_page(0);
	ck_assert_uint_eq(predict_window(32, 1).major, 0);
	ck_assert_uint_eq(predict_window(32, 1).read_pages, 4);
}
