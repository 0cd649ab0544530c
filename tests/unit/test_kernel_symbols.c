// SPDX-License-Identifier: GPL-2.0-only
/* Function names for kernel stacks, from a table like /proc/kallsyms. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"
#include "user/collect/kernel_symbols.h"

static const char table[] = "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t __schedule\n"
			    "ffffffff81000200 T io_schedule\n"
			    "ffffffff81000200 T io_schedule_alias\n"
			    "ffffffff810002f0 t __pfx_folio_wait_bit_common.part.0\n"
			    "ffffffff81000300 t folio_wait_bit_common.part.0\n"
			    "ffffffff81000400 T filemap_fault\n"
			    "ffffffff81000500 D some_data\n"
			    "ffffffff81000600 T handle_mm_fault\n"
			    "ffffffff81000700 T exc_page_fault\n"
			    "ffffffffc0000000 t fuse_read\t[fuse]\n"
			    "ffffffffc0000100 t last\t[fuse]\n";

static char path[] = "/tmp/kallsyms-XXXXXX";
static struct kallsyms kallsyms;
static struct kernel_symbols symbols;

static int read_table(const char *text)
{
	const int fd = mkstemp(path);
	int err;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = kallsyms_read(&kallsyms, path);
	unlink(path);
	return err;
}

static void setup(void)
{
	symbols = (struct kernel_symbols){ .lookup = kallsyms_lookup, .context = &kallsyms };
}

static void teardown(void)
{
	kernel_symbols_exit(&symbols);
	kallsyms_exit(&kallsyms);
}

static const struct pfstat_wait *name(const struct pfstat_wait *wait)
{
	return (const void *)kernel_symbols_apply(&symbols, &wait->event);
}

TEST(test_stack_has_no_scheduler_and_no_callers_of_the_fault)
{
	const struct pfstat_wait wait = {
		.event = { .type = PFSTAT_EVENT_WAIT, .size = sizeof(wait), .tid = 7 },
		.off_ns = 9,
		.frames = 6,
		.ips = { 0xffffffff81000180, 0xffffffff81000210, 0xffffffff81000390,
			 0xffffffffc0000020, 0xffffffff81000610, 0xffffffff81000710 },
	};
	int i;

	ck_assert_int_eq(read_table(table), 0);
	for (i = 0; i < 2; i++) { /* the second time from the stacks that are kept */
		ck_assert_str_eq(name(&wait)->functions, "folio_wait_bit_common<fuse_read");
		ck_assert_uint_eq(name(&wait)->event.flags, PFSTAT_WAIT_NAMED);
		ck_assert_uint_eq(name(&wait)->event.tid, 7);
		ck_assert_uint_eq(name(&wait)->off_ns, 9);
	}
}

/* A call may be the last instruction of a function. */
TEST(test_return_address_belongs_to_the_function_before_it)
{
	const struct pfstat_wait wait = {
		.event = { .type = PFSTAT_EVENT_WAIT, .size = sizeof(wait) },
		.frames = 1,
		.ips = { 0xffffffff81000500 },
	};

	ck_assert_int_eq(read_table(table), 0);
	ck_assert_str_eq(name(&wait)->functions, "filemap_fault");
}

TEST(test_function_has_a_range)
{
	uint64_t from, to;

	ck_assert_int_eq(read_table(table), 0);
	ck_assert(kallsyms_range(&kallsyms, "io_schedule", &from, &to));
	ck_assert_uint_eq(from, 0xffffffff81000200);
	ck_assert_uint_eq(to, 0xffffffff81000300);
	ck_assert(!kallsyms_range(&kallsyms, "io_schedul", &from, &to));
	ck_assert(!kallsyms_range(&kallsyms, "some_data", &from, &to));
}

TEST(test_hidden_addresses_are_an_error)
{
	ck_assert_int_eq(read_table("0000000000000000 T _text\n0000000000000000 T schedule\n"),
			 -EACCES);
	ck_assert_int_eq(kallsyms_read(&kallsyms, "/nonexistent"), -ENOENT);
}

FIXTURE(setup, teardown);
