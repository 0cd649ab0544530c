// SPDX-License-Identifier: GPL-2.0-only
/* The memory map of a process: smaps is parsed, and each line gets a kind and a description. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runner.h"
#include "user/system/proc_maps.h"
#include "user/model/counters.h"
#include "user/util/page_size.h"

#define PID 42

struct expected {
	const char *line; /* smaps Rss */
	unsigned int anonymous_kb;
	enum map_kind kind;
};

/* A process with each kind of mapping. Address 7e2000000000 is being measured. */
static const struct expected everything[] = {
	{ "400000-401000 r--p 00000000 08:01 10 /bin/prog", 0, MAP_KIND_CONSTANTS },
	{ "401000-402000 r-xp 00001000 08:01 10 /bin/prog", 0, MAP_KIND_TEXT },
	{ "403000-404000 r--p 00002000 08:01 10 /bin/prog", 4, MAP_KIND_RELRO },
	{ "404000-405000 rw-p 00003000 08:01 10 /bin/prog", 4, MAP_KIND_DATA },
	{ "405000-406000 rw-p 00000000 00:00 0", 4, MAP_KIND_BSS },
	{ "500000-521000 rw-p 00000000 00:00 0 [heap]", 4, MAP_KIND_HEAP },
	{ "7e0000000000-7e0000001000 ---p 00000000 00:00 0", 0, MAP_KIND_GUARD },
	{ "7e0000001000-7e0000801000 rw-p 00000000 00:00 0", 8, MAP_KIND_THREAD_STACK },
	{ "7e1000000000-7e1000100000 rw-p 00000000 00:00 0", 8, MAP_KIND_ANONYMOUS },
	{ "7e2000000000-7e2000010000 r--s 00000000 00:05 44 /data/file", 0, MAP_KIND_MEASURED },
	{ "7e3000000000-7e3000010000 r--s 00000000 00:06 44 /data/other", 0, MAP_KIND_FILE },
	{ "7e4000000000-7e4000001000 r--p 00000000 08:01 11 /lib/libx.so", 0, MAP_KIND_CONSTANTS },
	{ "7e4000001000-7e4000002000 r-xp 00001000 08:01 11 /lib/libx.so", 0, MAP_KIND_TEXT },
	{ "7e4000002000-7e4000003000 ---p 00002000 08:01 11 /lib/libx.so", 0, MAP_KIND_GAP },
	{ "7e4000003000-7e4000004000 rw-p 00002000 08:01 11 /lib/libx.so", 4, MAP_KIND_DATA },
	{ "7e5000000000-7e5000001000 rw-s 00000000 00:0f 5 /sys/kernel/debug/pfstat/ring/cpu0", 0,
	  MAP_KIND_PFSTAT_RING },
	{ "7e5100000000-7e5100001000 rw-s 00000000 00:0e 6 anon_inode:bpf-map", 0, MAP_KIND_BPF },
	{ "7e5200000000-7e5200001000 rw-s 00000000 00:0e 6 anon_inode:[perf_event]", 0,
	  MAP_KIND_PERF },
	{ "7e5300000000-7e5300001000 rw-s 00000000 00:01 7 /dev/zero (deleted)", 0,
	  MAP_KIND_SHARED },
	{ "7e5400000000-7e5400001000 rw-s 00000000 00:01 8 /memfd:x (deleted)", 0,
	  MAP_KIND_SHARED },
	{ "7e5500000000-7e5500001000 rw-s 00000000 00:01 9 /SYSV00000000 (deleted)", 0,
	  MAP_KIND_SHARED },
	{ "7e5600000000-7e5600001000 rw-s 00000000 00:06 3 /dev/dri/card0", 0, MAP_KIND_DEVICE },
	{ "7e5700000000-7e5700001000 rw-p 00000000 00:00 0 [anon:arena]", 4, MAP_KIND_NAMED },
	{ "7fff00000000-7fff00021000 rw-p 00000000 00:00 0 [stack]", 8, MAP_KIND_STACK },
	{ "7fff00100000-7fff00104000 r--p 00000000 00:00 0 [vvar]", 0, MAP_KIND_VVAR },
	{ "7fff00104000-7fff00106000 r--p 00000000 00:00 0 [vvar_vclock]", 0, MAP_KIND_VVAR },
	{ "7fff00106000-7fff00108000 r-xp 00000000 00:00 0 [vdso]", 0, MAP_KIND_VDSO },
	{ "7fffffffe000-7ffffffff000 --xp 00000000 00:00 0 [uprobes]", 0, MAP_KIND_UPROBES },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", 0,
	  MAP_KIND_VSYSCALL },
};

#define NR (sizeof(everything) / sizeof(everything[0]))

static void read_everything(struct map_list *list)
{
	char figure[64];
	size_t i;

	*list = (struct map_list){ .pid = PID,
				   .program = "/bin/prog",
				   .measured = { .start = 0x7e2000000000, .end = 0x7e200000ff00 } };
	for (i = 0; i < NR; i++) {
		ck_assert_int_eq(proc_smaps_add_line(list, everything[i].line), 0);
		snprintf(figure, sizeof(figure), "Anonymous: %12u kB\n",
			 everything[i].anonymous_kb);
		ck_assert_int_eq(proc_smaps_add_line(list, figure), 0);
	}
	ck_assert_int_eq(proc_smaps_add_thread(list, 43,
					       "202 0x1 0x80 0x0 0x0 0x0 0x0 "
					       "0x7e0000800f00 0x7e4000001234\n"),
			 0);
}

TEST(test_each_kind_of_line_is_recognized)
{
	struct map_list list;
	size_t i;

	read_everything(&list);
	map_list_explain(&list);
	ck_assert_uint_eq(list.nr_lines, NR);
	for (i = 0; i < NR; i++)
		ck_assert_msg(list.lines[i].kind == everything[i].kind, "%s is %s",
			      everything[i].line, map_kind_name(list.lines[i].kind));
	ck_assert_int_eq(list.lines[7].thread, 43);
	map_list_exit(&list);
}

TEST(test_every_line_has_its_description)
{
	static const struct {
		size_t line;
		const char *text;
	} sentences[] = {
		{ 1, "program prog: code (text)" },
		{ 2, "program prog: addresses filled in by the loader (relro)" },
		{ 4, "prog: variables that begin as 0 (bss)" },
		{ 5, "[heap] memory that malloc() got from brk(2)" },
		{ 7, "thread 43's stack" },
		{ 9, "under measurement: /data/file" },
		{ 12, "library libx.so: code (text)" },
		{ 15, "pfstat module ring buffer: records of cpu0" },
	};
	struct map_list list;
	char text[256];
	size_t i;

	read_everything(&list);
	map_list_explain(&list);
	for (i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		map_line_explain(&list.lines[sentences[i].line], &list, text, sizeof(text));
		ck_assert_str_eq(text, sentences[i].text);
	}
	for (i = 0; i < NR; i++) {
		map_line_explain(&list.lines[i], &list, text, sizeof(text));
		ck_assert_str_ne(text, "");
	}
	map_list_exit(&list);
}

TEST(test_figures_belong_to_the_preceding_line)
{
	struct map_list list = { .pid = PID };

	ck_assert_int_eq(proc_smaps_add_line(&list, "1000-5000 rw-p 00000000 00:00 0 \n"), 0);
	ck_assert_uint_eq(list.lines[0].resident, COUNT_NA);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Size:                 16 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Rss:                  12 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Pss_Anon:              3 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Pss:                   6 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Shared_Dirty:          4 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Private_Dirty:         8 kB\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "THPeligible:           0\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "VmFlags: rd wr mr\n"), 0);
	ck_assert(list.lines[0].advice_known);
	ck_assert_uint_eq(list.lines[0].advice, MAPPING_NORMAL);
	ck_assert_int_eq(proc_smaps_add_line(&list, "6000-7000 r--s 00020000 08:01 5 /a b\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "Swap:                  4 kB\n"), 0);
	ck_assert(!list.lines[1].advice_known);
	ck_assert_int_eq(proc_smaps_add_line(&list, "VmFlags: rd mr me rr\n"), 0);
	ck_assert_uint_eq(list.lines[1].advice, MAPPING_RANDOM);
	ck_assert_int_eq(proc_smaps_add_line(&list, "VmFlags: rd mr me sr\n"), 0);
	ck_assert_uint_eq(list.lines[1].advice, MAPPING_SEQUENTIAL);
	ck_assert_uint_eq(list.nr_lines, 2);
	ck_assert_uint_eq(list.lines[0].resident, 12 * 1024);
	ck_assert_uint_eq(list.lines[0].pss, 6 * 1024);
	ck_assert_uint_eq(list.lines[0].dirty, 12 * 1024);
	ck_assert_uint_eq(list.lines[0].swapped, COUNT_NA);
	ck_assert_uint_eq(list.lines[1].swapped, 4 * 1024);
	ck_assert_uint_eq(list.lines[1].offset, 0x20000);
	ck_assert_uint_eq(list.lines[1].dev, 8 << 20 | 1);
	ck_assert_str_eq(list.lines[1].path, "/a b");
	ck_assert(list.lines[1].shared && !list.lines[0].shared);
	map_list_exit(&list);
}

static void check_description(const char *flags, const char *text)
{
	struct map_list list = { .pid = PID };
	char description[128];

	ck_assert_int_eq(proc_smaps_add_line(&list, "6000-7000 r--s 00002000 08:01 5 /a b\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, flags), 0);
	map_list_explain(&list);
	map_line_explain(&list.lines[0], &list, description, sizeof(description));
	ck_assert_str_eq(description, text);
	map_list_exit(&list);
}

TEST(test_advice_of_a_mapping_is_in_its_description)
{
	check_description("VmFlags: rd mr me ms sd\n", "mapped file: /a b");
	check_description("VmFlags: rd mr me ms rr sd\n",
			  "mapped file: /a b; MADV_RANDOM: no read-ahead");
	check_description("VmFlags: rd mr me ms sr sd\n", "mapped file: /a b; MADV_SEQUENTIAL");
}

TEST(test_malformed_lines_are_refused)
{
	struct map_list list = { .pid = PID };

	ck_assert_int_eq(proc_smaps_add_line(&list, "Rss: 12 kB\n"), -EPROTO); /* no mapping yet */
	ck_assert_int_eq(proc_smaps_add_line(&list, "1000-2000 rw-p 00000000 00:00 0\n"), 0);
	ck_assert_int_eq(proc_smaps_add_line(&list, "nonsense\n"), -EPROTO);
	map_list_exit(&list);
}

TEST(test_stack_of_a_running_thread_is_unknown)
{
	struct map_list list = { .pid = PID };

	ck_assert_int_eq(proc_smaps_add_thread(&list, 43, "running\n"), 0);
	ck_assert_uint_eq(list.nr_threads, 0);
	/* The first thread's stack has another name. */
	ck_assert_int_eq(proc_smaps_add_thread(&list, PID, "-1 0x7ffc00000000 0x400000\n"), 0);
	ck_assert_uint_eq(list.nr_threads, 0);
	ck_assert_int_eq(proc_smaps_add_thread(&list, 44, "-1 0x7e0000000100 0x400000\n"), 0);
	ck_assert_uint_eq(list.nr_threads, 1);
	ck_assert_uint_eq(list.threads[0].stack_pointer, 0x7e0000000100);
	map_list_exit(&list);
}

TEST(test_hooked_mappings_come_from_the_targets_of_the_module)
{
	struct map_list list;
	size_t i;

	read_everything(&list);
	ck_assert_int_eq(proc_smaps_add_target(&list, "recorder 42 pfdrive\n"), 0);
	ck_assert_int_eq(proc_smaps_add_target(&list, "mm pid 42\n"), 0);
	ck_assert_int_eq(proc_smaps_add_target(&list, "vma pid 43 0x400000-0x401000 pgoff 0 x\n"),
			 0);
	ck_assert_int_eq(proc_smaps_add_target(&list,
					       "vma pid 42 0x7e2000000000-0x7e2000010000 pgoff "
					       "0 dev 0:5 inode 44 advice random "
					       "readahead_pages 32 mmap_miss 7 /data/file\n"),
			 0);
	map_list_explain(&list);
	for (i = 0; i < NR; i++) {
		ck_assert_int_eq(list.lines[i].hooked, i == 9);
		ck_assert_uint_eq(map_line_ra_bytes(&list.lines[i]),
				  i == 9 ? 32 * page_size() : COUNT_NA);
		ck_assert_uint_eq(list.lines[i].mmap_miss, i == 9 ? 7 : COUNT_NA);
	}
	map_list_exit(&list);
}

TEST(test_measured_range_may_be_anonymous_memory)
{
	struct map_list list;
	char text[256];

	read_everything(&list);
	list.measured = (struct map_range){ 0x7e1000000000, 0x7e1000100000 };
	map_list_explain(&list);
	ck_assert_int_eq(list.lines[8].kind, MAP_KIND_MEASURED);
	ck_assert_int_eq(list.lines[9].kind, MAP_KIND_FILE);
	map_line_explain(&list.lines[8], &list, text, sizeof(text));
	ck_assert_str_eq(text, "under measurement: anonymous memory");
	map_list_exit(&list);
}

/* This process, as the kernel reports it. */
TEST(test_map_of_this_process_has_its_kinds)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	volatile char *memory =
		mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int kinds[MAP_NR_KINDS] = { 0 };
	struct map_list list;
	size_t i, found = 0;

	memory[0] = 1;
	memory[3 * page] = 1;
	ck_assert_int_eq(proc_smaps_read(&list, getpid()), 0);
	map_list_explain(&list);
	for (i = 0; i < list.nr_lines; i++) {
		kinds[list.lines[i].kind]++;
		ck_assert_uint_le(list.lines[i].resident, list.lines[i].end - list.lines[i].start);
		found += (uintptr_t)memory >= list.lines[i].start &&
			 (uintptr_t)memory < list.lines[i].end && list.lines[i].resident;
	}
	ck_assert_uint_eq(found, 1);
	ck_assert_uint_ge(kinds[MAP_KIND_TEXT], 2); /* the program and the C library */
	ck_assert_uint_ge(kinds[MAP_KIND_DATA], 2);
	ck_assert_uint_eq(kinds[MAP_KIND_STACK], 1);
	ck_assert_uint_eq(kinds[MAP_KIND_MEASURED], 0);
	map_list_exit(&list);
	munmap((void *)memory, 8 * page);
	ck_assert_int_eq(proc_smaps_read(&list, 0x7fffffff), -ESRCH);
}
