// SPDX-License-Identifier: GPL-2.0-only
/* The module's command parser, compiled for the host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "module/command.h"
#include "random.h"
#include "runner.h"

static struct pfstat_command parse(const char *line)
{
	struct pfstat_command command = { 0 };

	ck_assert_msg(pfstat_command_parse(line, &command) == 0, "\"%s\" is refused", line);
	return command;
}

static void check_refused(const char *line)
{
	struct pfstat_command command, before;

	memset(&command, 0x5a, sizeof(command));
	before = command;
	ck_assert_msg(pfstat_command_parse(line, &command) == -EINVAL, "\"%s\" is taken", line);
	ck_assert_mem_eq(&command, &before, sizeof(before));
}

TEST(test_every_command_is_understood)
{
	ck_assert_int_eq(parse("pid 123").verb, PFSTAT_VERB_PID);
	ck_assert_uint_eq(parse("pid 123").number, 123);
	ck_assert(!parse("pid 123").now);
	ck_assert(parse("pid 123 now").now);
	ck_assert_int_eq(parse("follow 1").verb, PFSTAT_VERB_FOLLOW);
	ck_assert_uint_eq(parse("follow 1").number, 1);
	ck_assert_int_eq(parse("file 0").verb, PFSTAT_VERB_FILE);
	ck_assert_int_eq(parse("only 7").verb, PFSTAT_VERB_ONLY);
	ck_assert_uint_eq(parse("only 7").number, 7);
	ck_assert_int_eq(parse("fault_around keep").verb, PFSTAT_VERB_FAULT_AROUND);
	ck_assert(parse("fault_around keep").on);
	ck_assert(!parse("fault_around off").on);
	ck_assert_int_eq(parse("ring_size 4096").verb, PFSTAT_VERB_RING_SIZE);
	ck_assert_int_eq(parse("mode drop").verb, PFSTAT_VERB_MODE);
	ck_assert(!parse("mode drop").on);
	ck_assert(parse("mode overwrite").on);
	ck_assert_int_eq(parse("faults on").verb, PFSTAT_VERB_FAULTS);
	ck_assert(parse("faults on").on);
	ck_assert(!parse("faults off").on);
	ck_assert_uint_eq(parse("handler 140737488355328").number, 1ULL << 47);
	ck_assert_int_eq(parse("watch 12 follow").how, PFSTAT_TARGET_FOLLOW);
	ck_assert_int_eq(parse("watch 12 thread").how, PFSTAT_TARGET_THREAD);
	ck_assert_int_eq(parse("watch 12 process").how, PFSTAT_TARGET_PROCESS);
	ck_assert_uint_eq(parse("ignore 12").number, 12);
	ck_assert_int_eq(parse("stop").verb, PFSTAT_VERB_STOP);
	ck_assert_int_eq(parse("clear").verb, PFSTAT_VERB_CLEAR);
}

TEST(test_blanks_do_not_matter)
{
	ck_assert_uint_eq(parse("  pid \t 123  now \r").number, 123);
	ck_assert_int_eq(parse("").verb, PFSTAT_VERB_NONE);
	ck_assert_int_eq(parse(" \t\r ").verb, PFSTAT_VERB_NONE);
}

TEST(test_sizes_accept_units)
{
	ck_assert_uint_eq(parse("ring_size 4K").number, 4096);
	ck_assert_uint_eq(parse("ring_size 3M").number, 3 << 20);
	ck_assert_uint_eq(parse("ring_size 1G").number, 1 << 30);
}

TEST(test_sizes_outside_their_bounds_are_refused)
{
	check_refused("ring_size 0");
	check_refused("ring_size 4095");
	check_refused("ring_size 1073741825");
	check_refused("ring_size 2G");
	check_refused("ring_size 1048577K");
	check_refused("ring_size 18446744073709551617K");
	/* 2^54 K would be 2^64, which wraps to 0. */
	check_refused("ring_size 18014398509481984K");
}

TEST(test_numbers_must_be_numbers)
{
	check_refused("pid -1");
	check_refused("pid +1");
	check_refused("pid 0x10");
	check_refused("pid 12a");
	check_refused("pid 1K");
	check_refused("pid K");
	check_refused("pid 1.5");
	check_refused("pid 4294967297");
	check_refused("pid 18446744073709551617");
	check_refused("ring_size K");
	check_refused("ring_size 4KK");
	check_refused("ring_size 4k");
	check_refused("file 99999999999");
}

TEST(test_unknown_words_are_refused)
{
	check_refused("start");
	check_refused("faults");
	check_refused("faults maybe");
	check_refused("watch 1");
	check_refused("watch 1 now");
	check_refused("handler 140737488355329");
	check_refused("PID 1");
	check_refused("pi 1");
	check_refused("pid 1 later");
	check_refused("fault_around on");
	check_refused("mode keep");
	check_refused("follow 1 now");
}

TEST(test_too_few_and_too_many_words_are_refused)
{
	check_refused("pid");
	check_refused("mode");
	check_refused("stop now");
	check_refused("clear 1");
	check_refused("pid 1 now now");
	check_refused("pid 1 now now now");
}

TEST(test_longest_word_is_refused_not_cut)
{
	char line[5000];

	/* If it were cut to the first letters, it would be a command. */
	check_refused("stopstopstopstopstopstop");
	check_refused("pid 000000000000000000000000000001");
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	check_refused(line);
}

TEST(test_a_refused_line_gets_the_form_of_its_command)
{
	ck_assert_str_eq(pfstat_command_usage("ring_size 1"), "ring_size SIZE, from 4K to 1G");
	ck_assert_str_eq(pfstat_command_usage(" pid\t1 later"), "pid PID [now]");
	ck_assert_str_eq(pfstat_command_usage("fault_around maybe"), "fault_around keep|off");
	ck_assert_str_eq(pfstat_command_usage("mode"), "mode drop|overwrite");
	ck_assert_ptr_nonnull(strstr(pfstat_command_usage("pids 1"), "pid, follow, file"));
	ck_assert_ptr_nonnull(strstr(pfstat_command_usage(""), "pid, follow, file"));
}

/* The sanitizers check that no line, however odd, is accessed beyond its end. */
TEST(test_random_lines_are_refused_or_give_a_valid_command)
{
	static const char letters[] = "pidfollowstopclearmodering_size 0123456789KMG \t\r-\xff";
	struct pfstat_command command;
	uint64_t state = 6, length, i;
	unsigned int round;
	char *line;

	for (round = 0; round < 200000; round++) {
		length = random_next(&state) % 40;
		line = malloc(length + 1);
		for (i = 0; i < length; i++)
			line[i] = letters[random_next(&state) % (sizeof(letters) - 1)];
		line[length] = '\0';
		if (!pfstat_command_parse(line, &command))
			ck_assert_int_le(command.verb, PFSTAT_VERB_CLEAR);
		free(line);
	}
}
