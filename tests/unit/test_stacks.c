// SPDX-License-Identifier: GPL-2.0-only
/* User stacks: joined with their faults, named, stored once, within bounds. */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "user/analyze/groups/stacks.h"

#define LIBRARY 0x7f0000000000ULL

static struct stacks *stacks;
static struct spaces *spaces;

static void map_file(uint32_t pid, uint64_t address, uint64_t pgoff, const char *path)
{
	struct item_map *map = calloc(1, sizeof(*map) + strlen(path) + 1);

	*map = (struct item_map){
		.address = address,
		.bytes = 0x10000,
		.pgoff = pgoff,
		.inode = 5,
		.dev = 9,
		.pid = pid,
		.tid = pid,
		.path_bytes = strlen(path) + 1,
	};
	strcpy(map->path, path);
	ck_assert_int_eq(address_spaces_add_map(spaces, map), 0);
	free(map);
}

static void open_stacks(void)
{
	stacks = stacks_new();
	spaces = address_spaces_new(4096);
	map_file(1, 0x400000, 0, "/bin/program");
	map_file(1, LIBRARY, 16, "/lib/libc.so");
}

static void close_stacks(void)
{
	stacks_free(stacks);
	address_spaces_free(spaces);
}

/* A 0 ends ips. */
static void begin_fault(uint32_t pid, uint64_t address, uint64_t ns, const uint64_t *ips)
{
	struct pfstat_stack stack = {
		.event = { .type = PFSTAT_EVENT_STACK,
			   .size = sizeof(stack),
			   .pid = pid,
			   .tid = pid,
			   .ns = ns },
		.address = address,
	};

	for (; ips[stack.frames]; stack.frames++)
		stack.ips[stack.frames] = ips[stack.frames];
	ck_assert_int_eq(stacks_add(stacks, &stack), 0);
}

static uint64_t number_of(uint32_t pid, uint64_t address, uint64_t start_ns)
{
	const struct explained fault = {
		.pid = pid,
		.tid = pid,
		.address = address,
		.start_ns = start_ns,
	};
	uint64_t number;

	ck_assert_int_eq(stacks_of_fault(stacks, spaces, &fault, &number), 0);
	return number;
}

static char *name_of(uint64_t number)
{
	size_t length;
	char *name;
	FILE *out = open_memstream(&name, &length);

	ck_assert_ptr_nonnull(out);
	stacks_print(stacks, spaces, number, out);
	ck_assert_int_eq(fclose(out), 0);
	return name;
}

static void name_is(uint64_t number, const char *expected)
{
	char *name = name_of(number);

	ck_assert_str_eq(name, expected);
	free(name);
}

static const uint64_t main_calls[] = { 0x400010, 0x400021, LIBRARY + 0x101, 0 };
static const uint64_t other_calls[] = { 0x400010, 0x400031, LIBRARY + 0x101, 0 };

TEST(test_a_fault_has_the_stack_that_it_began_with)
{
	uint64_t first, second;

	open_stacks();
	begin_fault(1, 0x1000, 100, main_calls);
	begin_fault(1, 0x2000, 200, other_calls);
	first = number_of(1, 0x1008, 105);
	second = number_of(1, 0x2000, 205);
	ck_assert_uint_ne(first, second);
	ck_assert_uint_ne(first, STACKS_NONE);
	name_is(first, "0x10100 (libc.so);0x20 (program);0x10 (program)");
	name_is(second, "0x10100 (libc.so);0x30 (program);0x10 (program)");
	/* Another page, another thread or an earlier time does not find this stack. */
	ck_assert_uint_eq(number_of(1, 0x3000, 300), STACKS_NONE);
	ck_assert_uint_eq(number_of(2, 0x1000, 300), STACKS_NONE);
	ck_assert_uint_eq(number_of(1, 0x1000, 99), STACKS_NONE);
	name_is(STACKS_NONE, "(not known)");
	close_stacks();
}

/* The table is full. One thread exits, and the slot can be reused. */
TEST(test_threads_beyond_the_limit_have_no_stack)
{
	static const uint64_t ips[] = { 0x400100, 0 };
	uint32_t i;

	open_stacks();
	for (i = 2; i < 2 + 65536; i++)
		begin_fault(i, 0x5000, 100, ips);
	begin_fault(1, 0x5000, 100, ips);
	ck_assert_uint_eq(number_of(1, 0x5000, 101), STACKS_NONE);
	ck_assert_uint_ne(number_of(2, 0x5000, 101), STACKS_NONE);
	stacks_end_thread(stacks, 2);
	begin_fault(1, 0x5000, 102, ips);
	ck_assert_uint_ne(number_of(1, 0x5000, 103), STACKS_NONE);
	close_stacks();
}

TEST(test_equal_stacks_are_stored_once)
{
	uint64_t first;

	open_stacks();
	begin_fault(1, 0x1000, 100, main_calls);
	first = number_of(1, 0x1000, 105);
	begin_fault(1, 0x9000, 900, main_calls);
	ck_assert_uint_eq(number_of(1, 0x9000, 905), first);
	/* Another process loads the program elsewhere, with the same offsets in the same files. */
	map_file(7, 0x500000, 0, "/bin/program");
	map_file(7, LIBRARY, 16, "/lib/libc.so");
	begin_fault(7, 0x1000, 100, (const uint64_t[]){ 0x500010, 0x500021, LIBRARY + 0x101, 0 });
	ck_assert_uint_eq(number_of(7, 0x1000, 105), first);
	/* Equal addresses in a process with unknown files are another stack. */
	begin_fault(8, 0x1000, 100, main_calls);
	ck_assert_uint_ne(number_of(8, 0x1000, 105), first);
	stacks_end_thread(stacks, 7);
	ck_assert_uint_eq(number_of(7, 0x1000, 105), STACKS_NONE);
	close_stacks();
}

static int name_library(void *context, const struct stack_place *place)
{
	int *places = context;

	(*places)++;
	if (strcmp(address_spaces_path(spaces, place->path), "/lib/libc.so"))
		return 0;
	return stacks_name_place(stacks, place, "operator+(S, S)+0x3f");
}

TEST(test_symbols_name_the_frames)
{
	int places = 0;
	uint64_t number;

	open_stacks();
	begin_fault(1, 0x1000, 100, main_calls);
	number = number_of(1, 0x1000, 105);
	ck_assert_int_eq(stacks_visit(stacks, name_library, &places), 0);
	ck_assert_int_eq(places, 3);
	name_is(number, "operator+(S, S);0x20 (program);0x10 (program)");
	close_stacks();
}

static int name_jitted(void *context, const struct stack_place *place)
{
	(void)context;
	if (place->path || place->offset == 0x20)
		return 0;
	ck_assert_uint_eq(place->offset, 0x2f);
	return stacks_name_place(stacks, place, place->pid == 8 ? "py::eight:a.py" : "nine+0x1f");
}

/* A JIT compiler's perf map has names for callers, too. Each process has a map of its own. */
TEST(test_callers_outside_files_have_the_names_of_their_process)
{
	const uint64_t jitted[] = { 0x20, 0x30, 0 };
	uint64_t eight, nine;

	open_stacks();
	begin_fault(8, 0x1000, 100, jitted);
	eight = number_of(8, 0x1000, 105);
	begin_fault(9, 0x1000, 100, jitted);
	nine = number_of(9, 0x1000, 105);
	ck_assert_uint_ne(eight, nine);
	ck_assert_int_eq(stacks_visit(stacks, name_jitted, NULL), 0);
	name_is(eight, "py::eight:a.py;0x20");
	name_is(nine, "nine;0x20");
	close_stacks();
}

TEST(test_truncated_stack_is_marked)
{
	uint64_t ips[PFSTAT_STACK_FRAMES + 1] = { 0 };
	uint64_t number;
	size_t i, frames = 1;
	char *name, *at;

	open_stacks();
	for (i = 0; i < PFSTAT_STACK_FRAMES; i++)
		ips[i] = 0x400010 + i;
	begin_fault(1, 0x1000, 100, ips);
	number = number_of(1, 0x1000, 105);
	name = name_of(number);
	ck_assert_int_eq(strncmp(name, "…;0x", strlen("…;0x")), 0);
	ck_assert_str_eq(name + strlen(name) - strlen(";0x10 (program)"), ";0x10 (program)");
	for (at = strchr(name, ';') + 1; (at = strchr(at, ';')); at++)
		frames++;
	ck_assert_uint_eq(frames, PFSTAT_STACK_FRAMES);
	free(name);
	close_stacks();
}

TEST(test_stacks_beyond_the_limit_are_others)
{
	uint64_t i, number = 0;

	open_stacks();
	for (i = 0; i <= STACKS_MAX; i++) {
		begin_fault(1, 0x1000, 100 * i, (const uint64_t[]){ 0x90000000 + i, 0 });
		number = number_of(1, 0x1000, 100 * i + 5);
	}
	ck_assert_uint_eq(number, STACKS_OTHER);
	name_is(number, "(others)");
	close_stacks();
}

static int count_place(void *context, const struct stack_place *place)
{
	(void)place;
	++*(size_t *)context;
	return 0;
}

/* Without frame pointers, frames are random: each one is new. */
TEST(test_a_full_table_of_stacks_adds_no_frames)
{
	size_t places = 0;
	uint64_t i, first;

	open_stacks();
	begin_fault(1, 0x1000, 0, (const uint64_t[]){ 0x400000, 0 });
	first = number_of(1, 0x1000, 5);
	for (i = 1; i < STACKS_MAX + 100; i++) {
		begin_fault(1, 0x1000, 100 * i, (const uint64_t[]){ 0x400000 + i, 0 });
		ck_assert((number_of(1, 0x1000, 100 * i + 5) == STACKS_OTHER) == (i >= STACKS_MAX));
	}
	ck_assert_int_eq(stacks_visit(stacks, count_place, &places), 0);
	ck_assert_uint_eq(places, STACKS_MAX);
	/* Known stacks are found. A new stack, even with known frames, becomes "(others)". */
	begin_fault(1, 0x1000, 100 * i, (const uint64_t[]){ 0x400000, 0 });
	ck_assert_uint_eq(number_of(1, 0x1000, 100 * i + 5), first);
	begin_fault(1, 0x1000, 200 * i, (const uint64_t[]){ 0x400000, 0x400002, 0 });
	ck_assert_uint_eq(number_of(1, 0x1000, 200 * i + 5), STACKS_OTHER);
	close_stacks();
}
