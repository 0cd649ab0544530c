// SPDX-License-Identifier: GPL-2.0-only
/* The rules for perf faults: evidence that proves a cause, and evidence that does not. */
#include <string.h>

#include "sample_verdict.h"
#include "user/model/wait_cause.h"

static void perf_begin(struct sample *s)
{
	sample_begin(s);
	s->report.bpf.hooks = 1U << HOOK_FAULT | 1U << HOOK_PERF;
	strcpy(s->report.environment.command, "program");
}

static void add_reads(struct sample *s, uint64_t count, uint64_t asleep_ns, uint64_t cpu_ns)
{
	struct evidence_sum *read = &s->report.evidence.perf.read;

	add_class(s, FAULT_FILE, count, PART_ASLEEP, asleep_ns);
	add_class(s, FAULT_FILE, 0, PART_CPU_BEFORE, cpu_ns);
	read->count += count;
	read->total_ns += asleep_ns + cpu_ns;
	read->off_cpu_ns += asleep_ns;
}

static void add_file(struct sample *s, uint64_t major, struct group_reads reads)
{
	s->files[0] = (struct group){
		.name = "/data/big.bin",
		.inode = 5,
		.faults = major,
		.major = major,
		.total_ns = reads.major_ns,
		.reads = reads,
	};
	s->report.places[GROUP_BY_FILE] = (struct report_places){ s->files, 1 };
}

static void add_cached(struct sample *s, uint64_t count, uint64_t total_ns, uint64_t writable_ns)
{
	struct evidence_perf *perf = &s->report.evidence.perf;

	add_class(s, FAULT_FILE, count, PART_CPU_BEFORE, total_ns);
	perf->cached = (struct evidence_sum){ count, total_ns, 0 };
	perf->minor = perf->cached;
	perf->writable = (struct evidence_sum){ count, writable_ns, 0 };
}

TEST(test_reads_of_a_file_at_random)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	add_file(&s, 400, (struct group_reads){ .major_ns = 500 * MS, .next = 30 });
	check_cause(&s, "cold-file", true, "pages of /data/big.bin were not in memory: 400 major");
	check_cause(&s, "cold-file", true, "not read in order");
}

TEST(test_major_faults_of_a_program_that_reads_nothing_are_not_called_reads)
{
	struct filesystem disk = { .type = "ext4" };
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	add_file(&s, 400, (struct group_reads){ .major_ns = 500 * MS, .next = 30 });
	s.files[0].filesystem = &disk;
	s.report.usage.majflt = 400;
	s.report.usage.inblock = 400 * 8;
	check_cause(&s, "cold-file", true, "400 major faults read them");
	s.report.usage.inblock = 40;
	check_cause(&s, "cold-file", false, "from a disk: most likely another process read");
	/* Not all processes are in these counts. */
	s.report.usage.majflt = 40;
	check_cause(&s, "cold-file", true, "400 major faults read them");
	/* A server's file is not read from a disk. */
	s.report.usage.majflt = 400;
	strcpy(disk.type, "fuse");
	check_cause(&s, "cold-file", true, "400 major faults read them");
}

TEST(test_reads_of_adjacent_pages_lack_read_ahead)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	add_file(&s, 400,
		 (struct group_reads){ .major_ns = 500 * MS, .next = 399, .adjacent = 396 });
	check_cause(&s, "cold-file", true, "99 % of them were on the page after another's");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cold-file")->remedy, "--advise normal"));
	s.files[0].reads.adjacent = 10;
	check_cause(&s, "cold-file", true, "read mostly in order");
}

TEST(test_reads_of_adjacent_pages_in_a_mapping_with_known_advice)
{
	struct group mapping = {
		.name = "7 1000-2000 /data/big.bin",
		.total_ns = 460 * MS,
		.state = { .known = true,
			   .advice = MAPPING_RANDOM,
			   .ra_pages = PFSTAT_MAPPING_UNKNOWN,
			   .mmap_miss = PFSTAT_MAPPING_UNKNOWN },
	};
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	add_file(&s, 400,
		 (struct group_reads){ .major_ns = 500 * MS, .next = 399, .adjacent = 396 });
	s.report.places[GROUP_BY_VMA] = (struct report_places){ &mapping, 1 };
	check_cause(&s, "no-read-ahead", true,
		    "/data/big.bin was read one page at a time by 400 major faults, 1250 µs each "
		    "(100 % of the faults' time), although 99 % of them went on to a next page: "
		    "read-ahead is off, by madvise(MADV_RANDOM).");
	check_no_cause(&s, "cold-file");
	/* Most of the file's faults were in a mapping without it. */
	mapping.total_ns = 440 * MS;
	check_no_cause(&s, "no-read-ahead");
	check_cause(&s, "cold-file", true, "which read-ahead should have brought.");
	mapping.total_ns = 460 * MS;
	mapping.state.advice = MAPPING_NORMAL;
	check_no_cause(&s, "no-read-ahead");
	check_cause(&s, "cold-file", true, "and MADV_RANDOM was not in force.");
	/* Pages that come back lack memory, not read-ahead. */
	mapping.state.advice = MAPPING_RANDOM;
	s.report.evidence.perf.read_again.count = 40;
	check_no_cause(&s, "no-read-ahead");
}

/* Half a second in major faults on a file of this file system, four fifths of it asleep. */
static void add_served(struct sample *s, const struct filesystem *filesystem)
{
	perf_begin(s);
	add_reads(s, 400, 400 * MS, 100 * MS);
	add_file(s, 400, (struct group_reads){ .major_ns = 500 * MS, .next = 390 });
	s->files[0].filesystem = filesystem;
	s->files[0].parts_ns[PART_ASLEEP] = 400 * MS;
}

TEST(test_perf_names_the_server_of_a_file)
{
	static const struct filesystem nfs = { .type = "nfs4", .source = "host:/export" };
	static const char *const text = "for 80 % of the faults' time threads slept in faults that "
					"most likely waited for the NFS server: /data/big.bin is "
					"on nfs4 (host:/export).";
	struct cgroup_limits *cgroup;
	struct sample s;

	add_served(&s, &nfs);
	check_cause(&s, "remote-server", false, text);
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "remote-server")->remedy, "nfsiostat"));
	check_no_cause(&s, "cold-file"); /* says less about the same */
	/* Nothing waited for memory, so nothing else fits. */
	cgroup = &s.report.cgroup;
	strcpy(cgroup->path, "/sys/fs/cgroup/a");
	cgroup->pressure.memory_some_ns = 40 * MS;
	check_cause(&s, "remote-server", true, "that waited for the NFS server");
	cgroup->pressure.memory_some_ns++;
	check_cause(&s, "remote-server", false, text);
	cgroup->pressure.memory_some_ns = 0;
	s.files[0].reads.major_ns = 449 * MS; /* sleeps in minor faults may be for a lock */
	check_cause(&s, "remote-server", false, text);
}

TEST(test_perf_names_no_server_for_other_files)
{
	static const struct filesystem others[] = {
		{ .type = "ext4", .source = "/dev/sda1" },
		{ .type = "overlay", .source = "overlay" },
		{ .type = "tmpfs", .source = "tmpfs" },
	};
	static const struct filesystem nfs = { .type = "nfs4", .source = "host:/export" };
	struct sample s;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		add_served(&s, &others[i]);
		check_no_cause(&s, "remote-server");
		check_cause(&s, "cold-file", true, "read mostly in order");
	}
	add_served(&s, NULL);
	check_no_cause(&s, "remote-server");
	add_served(&s, &nfs);
	s.files[0].parts_ns[PART_ASLEEP] = 124 * MS;
	check_no_cause(&s, "remote-server");
	check_cause(&s, "cold-file", true, "read mostly in order");
}

TEST(test_order_and_eviction_of_a_servers_pages_are_not_left_out)
{
	static const struct filesystem fuse = { .type = "fuse", .source = "pfstat" };
	struct sample s;

	add_served(&s, &fuse);
	s.files[0].reads.adjacent = 390;
	check_cause(&s, "remote-server", false, "FUSE server");
	check_cause(&s, "cold-file", true, "which read-ahead should have brought");
	s.files[0].reads.adjacent = 0;
	s.report.evidence.perf.read_again.count = 200;
	check_cause(&s, "remote-server", false, "FUSE server");
	check_cause(&s, "cold-file", false, "they were evicted, or dropped");
	s.report.evidence.perf.read_again.count = 199;
	check_no_cause(&s, "cold-file");
	/* Reads of local files are not the server's. */
	add_class(&s, FAULT_FILE, 100, PART_ASLEEP, 200 * MS);
	s.report.evidence.perf.read.count += 100;
	s.report.evidence.perf.read.total_ns += 200 * MS;
	s.report.evidence.perf.read.off_cpu_ns += 200 * MS;
	check_cause(&s, "remote-server", false, "for 57 % of the faults' time");
	check_cause(&s, "cold-file", true, "500 major faults read them");
}

/* A hole of a file is a major fault too, but nothing waits for it. */
TEST(test_major_faults_without_a_sleep_are_not_certain)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 10 * MS, 490 * MS);
	check_cause(&s, "cold-file", false,
		    "400 major faults found no page of several files in memory, 1250.00 µs each, "
		    "but nearly none of them waited: holes of the file");
	add_reads(&s, 400, 100 * MS, 400 * MS);
	check_cause(&s, "cold-file", false, "pages of several files were not in memory");
}

TEST(test_pages_that_return_among_cold_ones_are_not_read_in_advance)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	add_file(&s, 400, (struct group_reads){ .major_ns = 500 * MS, .next = 399 });
	s.report.evidence.perf.read_again.count = 40;
	check_cause(&s, "cold-file", true, "40 of them read a page that had been there before");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "cold-file")->remedy, "first the memory"));
	s.report.evidence.perf.read_again.count = 39;
	check_cause(&s, "cold-file", true, "read mostly in order");
}

TEST(test_faults_on_pages_that_faulted_before_have_possible_causes)
{
	const struct verdict_cause *cause;
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_AGAIN, 1000, PART_CPU_BEFORE, 500 * MS);
	check_cause(&s, "faulted-again", false,
		    "faulted before: written again after a read or given back with "
		    "madvise() (MADV_DONTNEED or MADV_FREE), munmap(), mmap(MAP_FIXED) or "
		    "mremap(), and touched again.");
	s.report.evidence.forks = 3;
	s.report.faults.classes[FAULT_AGAIN].major = 7;
	check_cause(
		&s, "faulted-again", false,
		"the process, or its parent before a fork, had faulted before: written again "
		"after a fork or a read, given back with madvise() (MADV_DONTNEED or "
		"MADV_FREE), munmap(), mmap(MAP_FIXED) or mremap(), and touched again or swapped "
		"out (7 of them are major).");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "faulted-again")->remedy,
				     "madvise,mmap,munmap,mremap,fork,clone "));
	s.report.evidence.forks = 0;
	s.report.faults.classes[FAULT_AGAIN].major = 0;
	add_file(&s, 0, (struct group_reads){ 0 });
	s.files[0].classes[FAULT_AGAIN] = 1000;
	check_cause(&s, "faulted-again", false,
		    "after write-back (msync(), fsync() or the kernel's own), taken out of the "
		    "file (a truncation, a punched hole, fadvise, direct I/O) or given back");
	cause = cause_of(&s, "faulted-again");
	ck_assert_ptr_nonnull(strstr(cause->remedy,
				     ",msync,fsync,fdatasync,fallocate,ftruncate,fadvise64 "));
	ck_assert_ptr_null(strstr(cause->text, "fork"));
	ck_assert_ptr_null(strstr(cause->text, "swapped"));
}

TEST(test_major_faults_on_memory_that_faulted_before_are_swap_ins)
{
	struct evidence_perf *perf;
	struct sample s;

	perf_begin(&s);
	perf = &s.report.evidence.perf;
	add_class(&s, FAULT_AGAIN, 1300, PART_ASLEEP, 400 * MS);
	add_class(&s, FAULT_ANON, 1000, PART_CPU_BEFORE, 100 * MS);
	s.report.faults.classes[FAULT_AGAIN].major = 1024;
	perf->swapped = (struct evidence_sum){ 1024, 380 * MS, 370 * MS };
	perf->swapped_again = perf->swapped;
	/* Without the reasons of sleeps, a handler of userfaultfd is possible. */
	check_cause(&s, "swap", false,
		    "1024 major faults, 371 µs each (76 % of the faults' time), read pages of "
		    "anonymous memory (4 MiB) back from swap, or waited for a handler of "
		    "userfaultfd.");
	check_no_cause(&s, "faulted-again"); /* the other faults on such pages are few */
	s.report.bpf.hooks |= 1U << HOOK_WAIT_STACK;
	check_cause(&s, "swap", true, "(4 MiB) back from swap.");
	/* A handler cannot have served a fault that did not sleep. */
	s.report.bpf.hooks &= ~(1U << HOOK_WAIT_STACK);
	perf->swapped_again.off_cpu_ns = 38 * MS;
	check_cause(&s, "swap", true, "back from swap.");
	perf->swapped_again.count = 255;
	check_no_cause(&s, "swap");
	check_cause(&s, "faulted-again", false, "swapped out (1024 of them are major)");
}

TEST(test_memory_touched_before_the_recording_may_be_in_swap)
{
	struct sample s;

	perf_begin(&s);
	s.report.bpf.hooks |= 1U << HOOK_WAIT_STACK;
	add_class(&s, FAULT_ANON, 1000, PART_ASLEEP, 400 * MS);
	s.report.faults.classes[FAULT_ANON].major = 1000;
	s.report.evidence.perf.swapped = (struct evidence_sum){ 1000, 400 * MS, 300 * MS };
	check_no_cause(&s, "swap");
	s.report.environment.command[0] = '\0';
	check_cause(&s, "swap", true, "back from swap.");
}

/* A page is read, then written: two faults. */
TEST(test_pages_that_fault_often_were_given_back_or_protected)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_AGAIN, 1000, PART_CPU_BEFORE, 500 * MS);
	s.report.evidence.perf.often.count = 499;
	check_cause(&s, "faulted-again", false, "written again after a read or given back");
	s.report.evidence.perf.often.count = 500;
	check_cause(&s, "faulted-again", false,
		    "mmap(MAP_FIXED) or mremap(), and touched again or protected in between "
		    "(mprotect(), userfaultfd, soft-dirty, NUMA balancing).");
	s.report.evidence.forks = 1;
	check_cause(&s, "faulted-again", false, "written again after a fork, given back");
}

static void check_advice(struct sample *s, const char *rule, const char *advice)
{
	judge(s);
	ck_assert_ptr_nonnull(strstr(cause_of(s, rule)->remedy, advice));
}

TEST(test_memory_is_given_back_only_if_it_was_unmapped)
{
	struct evidence_perf *perf;
	struct sample s;

	perf_begin(&s);
	perf = &s.report.evidence.perf;
	perf->history_known = true;
	add_class(&s, FAULT_ANON, 51200, PART_CPU_BEFORE, 300 * MS);
	s.report.usage.maxrss_bytes = 100 << 20;
	/* A read of memory that was never written leaves the same. */
	check_no_cause(&s, "touched-again");
	check_cause(&s, "first-touch", false,
		    "51200 first touches of anonymous memory (200 MiB), 5.86 µs each, but at most "
		    "100 MiB were resident at once: reads of memory that was never written");
	perf->remapped.count = 25600;
	check_cause(&s, "touched-again", true, "50 % of it where it had unmapped memory.");
	check_advice(&s, "touched-again", "keep the mapping and use it again");
	check_no_cause(&s, "first-touch");
	perf->remapped.count = 25599;
	check_no_cause(&s, "touched-again");
	check_cause(&s, "first-touch", false, "at most 100 MiB were resident at once");
	/* Each fault on a file may have mapped 16 pages, which are resident, too. */
	s.report.usage.maxrss_bytes = 160 << 20;
	check_cause(&s, "first-touch", true, "51200 first touches of anonymous memory, 5.86");
	s.report.faults.classes[FAULT_FILE].count = 1;
	check_cause(&s, "first-touch", false, "at most 160 MiB were resident at once: reads");
	s.report.evidence.forks = 1;
	check_cause(&s, "first-touch", false, "resident at once in one process: reads");
	s.report.usage.maxrss_bytes = 200 << 20;
	s.report.faults.classes[FAULT_FILE].count = 1000;
	check_cause(&s, "first-touch", false, "in one process, pages of files among them: reads");
	s.report.evidence.forks = 0;
	s.report.faults.classes[FAULT_FILE].count = 0;
	s.report.usage.maxrss_bytes = COUNT_NA;
	check_cause(&s, "first-touch", false, "but how much was resident is not known: reads");
	/* An older recording. */
	perf->history_known = false;
	s.report.usage.maxrss_bytes = 100 << 20;
	check_cause(&s, "touched-again", false, "gives memory back and, it seems, touches it");
}

TEST(test_remedy_for_memory_that_is_given_back_depends_on_the_mapping)
{
	struct sample s;

	perf_begin(&s);
	s.report.evidence.perf.history_known = true;
	s.report.evidence.perf.remapped.count = 51200;
	add_class(&s, FAULT_ANON, 51200, PART_CPU_BEFORE, 300 * MS);
	s.files[0] = (struct group){ .name = "7 10000000-12000000 (anonymous memory)",
				     .classes = { [FAULT_ANON] = 51200 } };
	s.report.places[GROUP_BY_VMA] = (struct report_places){ s.files, 1 };
	check_advice(&s, "touched-again", "instead of munmap() and mmap()");
	s.files[0].name = "7 10000000-12001000 (anonymous memory)"; /* above 32 MiB */
	check_advice(&s, "touched-again", "reserve the final size at once");
	s.files[0].name = "7 10000000-12000000 [heap]";
	check_advice(&s, "touched-again", "glibc.malloc.trim_threshold=N");
}

TEST(test_pages_that_are_mapped_again_are_not_populated)
{
	struct evidence_perf *perf;
	struct sample s;

	perf_begin(&s);
	perf = &s.report.evidence.perf;
	add_cached(&s, 5000, 300 * MS, 20 * MS);
	check_advice(&s, "cached-pages", "MAP_POPULATE");
	perf->history_known = true;
	check_advice(&s, "cached-pages", "MAP_POPULATE");
	s.report.evidence.file_maps = 1250;
	check_advice(&s, "cached-pages", "read() or pread() small files");
	check_cause(
		&s, "cached-pages", true,
		"The program made 1250 mappings of files; each cost its calls and 4.0 of these faults.");
	s.report.evidence.file_maps = 1249;
	check_advice(&s, "cached-pages", "MAP_POPULATE");
	perf->mapped.count = 2500;
	check_advice(&s, "cached-pages", "keep one mapping");
	check_cause(
		&s, "cached-pages", true,
		"2500 of them were on pages that the process had mapped before, in another mapping.");
	perf->mapped.count = 2499;
	check_advice(&s, "cached-pages", "MAP_POPULATE");
}

TEST(test_shared_memory_that_is_mapped_again_is_not_of_another_process)
{
	struct evidence_perf *perf;
	struct sample s;

	perf_begin(&s);
	perf = &s.report.evidence.perf;
	add_cached(&s, 5000, 300 * MS, 20 * MS);
	s.files[0] = (struct group){ .name = "/dev/shm/frames", .inode = 3, .total_ns = 300 * MS };
	s.report.places[GROUP_BY_FILE] = (struct report_places){ s.files, 1 };
	perf->history_known = true;
	perf->mapped.count = 2499;
	check_cause(&s, "shared-memory", false, "another process had touched");
	perf->mapped.count = 2500;
	check_cause(
		&s, "shared-memory-mapped", true,
		"2500 of them were on pages that the process had mapped before, in another mapping");
	check_advice(&s, "shared-memory-mapped", "keep one mapping");
}

TEST(test_large_pages_are_not_advised_to_be_huge)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 512, PART_CPU_BEFORE, 512 * MS);
	s.report.usage.maxrss_bytes = 512ULL << 21;
	check_cause(&s, "first-touch", true, "most of them are large pages already");
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->remedy, "HUGEPAGE"));
	/* Most of the memory was populated, and these are small. */
	s.report.faults.all.whole.total_ns = 10 * MS;
	s.report.faults.classes[FAULT_ANON] = s.report.faults.all;
	s.report.faults.classes[FAULT_ANON].parts[PART_CPU_BEFORE].total_ns = 10 * MS;
	s.report.usage.utime_ns = 0;
	s.report.usage.stime_ns = 20 * MS;
	check_cause(&s, "first-touch", true, "512 first touches");
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "first-touch")->remedy, "MADV_HUGEPAGE"));
}

TEST(test_pages_that_return_are_not_cold)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 0);
	s.report.evidence.perf.read_again.count = 300;
	check_cause(&s, "cold-file", false, "they were evicted, or dropped");
}

TEST(test_cached_pages_are_certain_only_in_mappings_that_are_not_written)
{
	struct sample s;

	perf_begin(&s);
	add_cached(&s, 5000, 300 * MS, 20 * MS);
	check_cause(&s, "cached-pages", true, "5000 minor faults mapped pages of files");
	s.report.evidence.perf.writable.total_ns = 200 * MS;
	check_cause(&s, "cached-pages", false, "67 % of that in mappings that may be written");
}

TEST(test_shared_memory_is_not_a_cached_file)
{
	struct sample s;

	perf_begin(&s);
	add_cached(&s, 5000, 300 * MS, 20 * MS);
	s.files[0] =
		(struct group){ .name = "/dev/zero (deleted)", .inode = 3, .total_ns = 300 * MS };
	s.report.places[GROUP_BY_FILE] = (struct report_places){ s.files, 1 };
	judge(&s);
	ck_assert_ptr_nonnull(cause_of(&s, "shared-memory"));
	check_no_cause(&s, "cached-pages");
	s.files[0].name = "/data/file";
	judge(&s);
	ck_assert_ptr_nonnull(cause_of(&s, "cached-pages"));
}

TEST(test_first_touches_are_certain_if_no_touch_was_unseen)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 5000, PART_CPU_BEFORE, 300 * MS);
	check_cause(&s, "first-touch", true, "5000 first touches of anonymous memory");
	s.report.bpf.user_only = true;
	check_cause(&s, "first-touch", true, "5000 first touches of anonymous memory");
	s.report.evidence.forks = 1; /* pages the kernel touched unseen may be copied */
	check_cause(&s, "first-touch", false, "not seen to fault before");
	s.report.bpf.user_only = false;
	check_cause(&s, "first-touch", true, "5000 first touches of anonymous memory");
	s.report.environment.command[0] = '\0'; /* a process running before */
	check_cause(&s, "first-touch", false, "not seen to fault before");
}

/* perf does not report page sizes: 5000 faults may be 10 GiB in huge pages. */
TEST(test_huge_pages_are_advised_only_if_they_are_not_there)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 5000, PART_CPU_BEFORE, 300 * MS);
	judge(&s);
	ck_assert_ptr_nonnull(strstr(cause_of(&s, "first-touch")->remedy,
				     "if they are not huge pages already"));
	s.report.bpf.hooks &= ~(1U << HOOK_PERF);
	judge(&s);
	ck_assert_ptr_null(strstr(cause_of(&s, "first-touch")->remedy, "if they are"));
}

TEST(test_memory_without_a_mapping_was_moved)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_OTHER, 5000, PART_CPU_BEFORE, 300 * MS);
	check_cause(&s, "moved-memory", false, "mremap() has moved or extended");
	s.report.bpf.hooks &= ~(1U << HOOK_PERF);
	check_no_cause(&s, "moved-memory");
}

TEST(test_minor_faults_that_sleep_wait_for_an_unknown_reason)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_ASLEEP, 300 * MS);
	s.report.evidence.perf.minor = (struct evidence_sum){ 100, 300 * MS, 300 * MS };
	check_cause(
		&s, "asleep", false,
		"off the CPU in minor faults: they waited for a lock, a handler of userfaultfd or "
		"free memory.");
	/* The kernel counts a wait for a read that is in progress as minor. */
	s.report.evidence.perf.cached.off_cpu_ns = 30 * MS;
	add_class(&s, FAULT_ANON, 100, PART_RUNQUEUE, 30 * MS);
	check_cause(&s, "asleep", false,
		    "a lock, the file system, a read that read-ahead or MADV_WILLNEED had begun, a "
		    "handler of userfaultfd, free memory or a CPU.");
}

TEST(test_reclaim_is_a_cause_with_tracepoints_and_uncertain_after_a_loss)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 100, PART_RECLAIM, 300 * MS);
	s.report.evidence.reclaims[PFSTAT_RECLAIM_DIRECT] =
		(struct evidence_reclaims){ .count = 5, .total_ns = 300 * MS, .pages = 160 };
	check_no_cause(&s, "reclaim");
	s.report.bpf.hooks |= 1U << HOOK_RECLAIM;
	check_cause(&s, "reclaim", true, "reclaimed 5 times for lack of free memory");
	s.report.losses.events = 1;
	check_cause(&s, "reclaim", false, "reclaimed 5 times for lack of free memory");
}

/* 300 ms of sleeps in minor faults, with the stacks in one row. */
static void add_minor_sleeps(struct sample *s, struct wait_row *row)
{
	perf_begin(s);
	s->report.bpf.hooks |= 1U << HOOK_WAIT_STACK;
	add_class(s, FAULT_FILE, 100, PART_ASLEEP, 300 * MS);
	s->report.evidence.perf.minor = (struct evidence_sum){ 100, 300 * MS, 300 * MS };
	s->report.waits = (struct report_waits){ .rows = row, .nr = 1 };
	row->total_ns = row->parts_ns[PART_ASLEEP] = row->minor_asleep_ns = 300 * MS;
}

TEST(test_kernel_stacks_name_the_reason_of_sleeps_in_minor_faults)
{
	struct wait_row row = { .cause = "the page's migration" };
	struct sample s;

	add_minor_sleeps(&s, &row);
	check_cause(&s, "asleep", true, "they waited mostly for the page's migration, as their");
	/* Whose read it was is not known, nor whether it was a read. */
	row.cause = WAIT_OWN_PAGE;
	check_cause(&s, "asleep", false, "they waited mostly for reads of pages, by read-ahead");
	/* The major faults slept for another reason. */
	row.minor_asleep_ns = 100 * MS;
	check_cause(&s, "asleep", false, "their kernel stacks show no main reason.");
	row.cause = WAIT_WRITEBACK;
	row.minor_asleep_ns = 300 * MS;
	check_no_cause(&s, "asleep");
	check_cause(&s, "writeback-throttle", true, "too many pages are dirty: for 100 %");
}

TEST(test_locks_and_handlers_are_not_among_the_unknown_sleeps)
{
	struct wait_row row = { .cause = WAIT_USERFAULTFD,
				.parts_ns = { [PART_HANDLER] = 300 * MS },
				.total_ns = 300 * MS };
	struct sample s;

	perf_begin(&s);
	s.report.bpf.hooks |= 1U << HOOK_WAIT_STACK;
	add_class(&s, FAULT_ANON, 100, PART_HANDLER, 300 * MS);
	s.report.evidence.perf.minor = (struct evidence_sum){ 100, 300 * MS, 300 * MS };
	s.report.evidence.perf.minor_named_ns = 300 * MS;
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	check_cause(&s, "userfaultfd", true, "threads waited for a handler of userfaultfd");
	check_no_cause(&s, "asleep");
}

/* Without eBPF, that wait comes before the fault. */
TEST(test_wait_for_mmap_lock_is_in_the_time_of_a_fault_from_perf)
{
	struct wait_row row = { .cause = WAIT_MMAP_LOCK,
				.parts_ns = { [PART_BLOCKED] = 300 * MS },
				.total_ns = 300 * MS };
	struct sample s;

	perf_begin(&s);
	s.report.bpf.hooks |= 1U << HOOK_WAIT_STACK;
	s.report.waits = (struct report_waits){ .rows = &row, .nr = 1 };
	s.report.mmap_lock =
		(struct report_mmap_lock){ .total_ns = 500 * MS, .in_faults_ns = 300 * MS };
	add_class(&s, FAULT_ANON, 100, PART_BLOCKED, 300 * MS);
	check_cause(&s, "mmap-lock", true, "100 % of the faults' time threads waited for the lock");
}

TEST(test_faults_in_system_calls_that_perf_hides_may_cost_more)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_FILE, 10, PART_CPU_BEFORE, MS);
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	s.report.bpf.user_only = true;
	check_cause(&s, "nothing-wrong", false, "those in system calls are not among them");
}

TEST(test_lost_samples_make_a_cause_uncertain)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 400, 400 * MS, 100 * MS);
	s.report.losses.events = 3;
	check_cause(&s, "cold-file", false, "were not in memory");
}

/* The kernel counts faults in get_user_pages() without an event. */
TEST(test_faults_that_perf_does_not_show_are_not_dismissed)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 59, PART_CPU_BEFORE, MS);
	s.report.usage.minflt = 1058;
	s.report.usage.majflt = 1;
	check_cause(&s, "unseen-faults", false, "59 faults, but the kernel counted 1000 more");
	s.report.usage.majflt = 0;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	s.report.usage.majflt = COUNT_NA;
	check_cause(&s, "nothing-wrong", true, "page faults took little time");
	s.report.usage.majflt = 1;
	s.report.losses.events = 1000; /* lost samples had an event */
	check_cause(&s, "nothing-wrong", false, "up to 1000 more were lost");
	s.report.losses.events = 5; /* few */
	check_cause(&s, "nothing-wrong", false, "page faults took little time");
}

TEST(test_no_cause_is_certain_beside_as_many_unseen_faults)
{
	struct sample s;

	perf_begin(&s);
	add_reads(&s, 4000, 400 * MS, 100 * MS);
	s.report.usage.minflt = 0;
	s.report.usage.majflt = 5999;
	check_cause(&s, "cold-file", true, "were not in memory");
	s.report.usage.majflt = 6000;
	check_cause(&s, "cold-file", false, "were not in memory");
	check_cause(&s, "unseen-faults", false, "the kernel counted 2000 more");
}

TEST(test_faults_after_the_kernel_ended_the_events_have_no_cause)
{
	struct sample s;

	perf_begin(&s);
	add_class(&s, FAULT_ANON, 2, PART_CPU_BEFORE, MS);
	s.report.usage.minflt = 47685;
	s.report.usage.majflt = 0;
	s.report.losses.ended = 1;
	strcpy(s.report.losses.ended_name, "ping");
	check_cause(&s, "nothing-wrong", false, "when a process executed ping; the faults after");
}
