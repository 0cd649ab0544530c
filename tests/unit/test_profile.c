// SPDX-License-Identifier: GPL-2.0-only
/* The faults as a profile: samples, sums, names and calls. */
#include "sample_profile.h"

TEST(test_each_fault_is_a_sample_of_its_thread)
{
	const struct profile_sample *samples = profile.samples;

	ck_assert_uint_eq(profile.nr_samples, 6);
	ck_assert_uint_eq(profile.nr_threads, 3);
	ck_assert_str_eq(profile.threads[0].name, "program");
	ck_assert_uint_eq(profile.threads[0].faults, 3);
	ck_assert_uint_eq(samples[0].start_ns, T0);
	ck_assert_uint_eq(samples[0].duration_ns, 1000);
	ck_assert_uint_eq(samples[1].duration_ns, 7000);
	ck_assert_uint_eq(samples[1].page, 3);
	ck_assert_uint_eq(samples[1].class, FAULT_FILE);
	ck_assert_uint_eq(samples[2].duration_ns, 200);
	ck_assert_uint_eq(samples[0].stack, samples[2].stack);
	ck_assert_uint_eq(profile.start_ns, T0);
	ck_assert_uint_eq(profile.end_ns, now_ns - 100);
}

/* The number 11 belongs to two threads, one after the other. */
TEST(test_reused_number_is_another_thread)
{
	ck_assert_uint_eq(profile.threads[1].tid, 11);
	ck_assert_uint_eq(profile.threads[2].tid, 11);
	ck_assert_str_eq(profile.threads[1].name, "worker");
	ck_assert_str_eq(profile.threads[2].name, "second");
	ck_assert_str_eq(profile.threads[2].process, "program");
	ck_assert_uint_eq(profile.samples[5].thread, 2);
	ck_assert_uint_eq(profile.samples[5].duration_ns, 5);
}

/* The first file was deleted, and the second one got the same inode. */
TEST(test_reused_inode_is_another_file)
{
	free_profile();
	analysis = analysis_new(true, 4096, 1U << GROUP_BY_FILE);
	ck_assert_ptr_nonnull(analysis);
	ck_assert_int_eq(profile_init(&profile, analysis), 0);
	ck_assert_int_eq(analysis_listen(analysis, profile_add_fault, &profile), 0);
	generation = 5;
	map_file(10, LIBRARY + 0x100000, 70, "/data/first");
	add_fault(10, 10, PFSTAT_FAULT_FILE, 7000, NULL);
	generation = 6;
	map_file(10, LIBRARY + 0x100000, 70, "/data/second");
	add_fault(10, 10, PFSTAT_FAULT_FILE, 6000, NULL);
	ck_assert_int_eq(analysis_finish(analysis), 0);
	ck_assert_int_eq(profile_finish(&profile), 0);
	ck_assert_uint_eq(profile.nr_targets, 2);
	ck_assert_str_eq(profile.targets[0].name, "/data/first");
	ck_assert_str_eq(profile.targets[1].name, "/data/second");
	ck_assert_uint_eq(profile.samples[1].target, 1);
}

TEST(test_equal_samples_are_summed_up)
{
	uint64_t faults = 0, total_ns = 0;
	size_t i;

	ck_assert_uint_eq(profile.nr_sums, 5);
	for (i = 0; i < profile.nr_sums; i++) {
		faults += profile.sums[i].faults;
		total_ns += profile.sums[i].total_ns;
	}
	ck_assert_uint_eq(faults, 6);
	ck_assert_uint_eq(total_ns, 8285);
	ck_assert_uint_eq(profile.sums[0].faults, 2);
	ck_assert_uint_eq(profile.sums[0].total_ns, 1200);
}

/* Returns "innermost<…<outermost", naming each frame's function. */
static const char *path_of(uint32_t stack)
{
	uint32_t call = profile.stacks[stack].call;
	const struct profile_frame *frame;
	static char names[256];

	names[0] = '\0';
	for (; call != PROFILE_NONE; call = profile.calls[call].parent) {
		frame = &profile.frames[profile.calls[call].frame];
		strcat(names, names[0] ? "<" : "");
		strcat(names, profile.functions[frame->function].name);
	}
	return names;
}

TEST(test_frames_have_the_names_of_their_functions)
{
	ck_assert_str_eq(path_of(profile.samples[0].stack), "memset<main");
	ck_assert_str_eq(path_of(profile.samples[1].stack), "memset<0x30 (program)");
	ck_assert_str_eq(path_of(profile.samples[3].stack), "0x7e0000001000<main");
	/* Without a stack, the code is known. */
	ck_assert_str_eq(path_of(profile.samples[4].stack), "0x77 (program)");
	/* Two places in memset are one function in one file. */
	ck_assert_uint_eq(profile.nr_functions, 5);
	ck_assert_uint_eq(profile.nr_frames, 6);
	ck_assert_uint_eq(profile.nr_objects, 2);
	ck_assert_str_eq(profile.objects[1].path, "/lib/libc.so");
	ck_assert_uint_eq(profile.objects[1].end, 0x19);
}

TEST(test_stacks_share_their_outer_calls)
{
	const struct profile_call *calls = profile.calls;
	const uint32_t memset_call = profile.stacks[profile.samples[0].stack].call;
	const uint32_t jit_call = profile.stacks[profile.samples[3].stack].call;
	size_t i;

	ck_assert_uint_eq(profile.nr_calls, 6);
	ck_assert_uint_ne(memset_call, jit_call);
	ck_assert_uint_eq(calls[memset_call].parent, calls[jit_call].parent);
	for (i = 0; i < profile.nr_calls; i++)
		ck_assert(calls[i].parent == PROFILE_NONE || calls[i].parent < i);
}

FIXTURE(make_profile, free_profile);
