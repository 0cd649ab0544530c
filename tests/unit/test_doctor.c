// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive doctor: a healthy system has only ok lines, and each missing thing changes the line about
 * it and no other. The systems are folders with the files that doctor reads. The tests set what
 * doctor tries.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "text_file.h"
#include "apps/doctor/doctor.h"
#include "util/version.h"

#define RELEASE	 "6.12.5-amd64"
#define MODULES	 "/lib/modules/" RELEASE
#define EFI	 "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define CLOCKS	 "/sys/devices/system/clocksource/clocksource0/"
#define ALL_CAPS "CapEff:\t000001ffffffffff\n"
#define IS_ROOT	 "Uid:\t0\t0\t0\t0\n"
#define OPTIONS \
	"CONFIG_KPROBES=y\nCONFIG_KRETPROBES=y\nCONFIG_TRACEPOINTS=y\nCONFIG_BPF_SYSCALL=y\n"
#define MOUNTS                                    \
	"none /sys/kernel/debug debugfs rw 0 0\n" \
	"none /sys/fs/cgroup cgroup2 rw 0 0\n"

struct file {
	const char *path, *text; /* text: NULL if the file does not exist */
};

static const struct file healthy[] = {
	{ "/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nID=debian\n" },
	{ "/proc/sys/kernel/osrelease", RELEASE "\n" },
	{ "/boot/config-" RELEASE, OPTIONS "CONFIG_DEBUG_FS=y\n# CONFIG_PREEMPT_RT is not set\n" },
	{ MODULES "/build/Makefile", "" },
	{ "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n" },
	{ "/proc/keys", "0f1e I------ 1 perm 1f0b0000 0 0 keyring .machine: 2\n" },
	{ "/sys/module/module/parameters/sig_enforce", "N\n" },
	{ "/sys/kernel/btf/vmlinux", "" },
	{ "/proc/kallsyms", "" },
	{ "/proc/sys/kernel/kptr_restrict", "0\n" },
	{ "/sys/module/pfstat/version", PFDRIVE_VERSION "\n" },
	{ "/sys/module/pfstat/parameters/hold_faults", "Y\n" },
	{ "/build/pfstat.ko", "vermagic=" RELEASE " SMP preempt mod_unload" },
	{ "/proc/self/status", "Name:\tpfdrive\n" IS_ROOT ALL_CAPS },
	{ "/proc/sys/kernel/perf_event_paranoid", "3\n" },
	{ "/proc/self/mounts", MOUNTS "bpf /sys/fs/bpf bpf rw 0 0\n" },
	{ "/sys/kernel/debug/fault_around_bytes", "65536\n" },
	{ "/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n" },
	{ "/proc/swaps", "Filename\tType\n/dev/zram0 partition 1 0 100\n" },
	{ CLOCKS "current_clocksource", "tsc\n" },
	{ CLOCKS "available_clocksource", "tsc hpet\n" },
};

static char root[32];
static struct doctor_facts facts;

/* The result is valid until the next call but one. */
static const char *in_root(const char *path)
{
	static char whole[2][PATH_MAX];
	static unsigned int next;
	char *here = whole[next++ % 2];

	snprintf(here, sizeof(whole[0]), "%s%s", root, path);
	return here;
}

static void write_file(const char *path, const char *text)
{
	char folder[PATH_MAX], *slash = folder + strlen(root);

	snprintf(folder, sizeof(folder), "%s", in_root(path));
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	text_file_write(in_root(path), text);
}

static void link_file(const char *path, const char *target)
{
	ck_assert_int_eq(symlink(target, in_root(path)), 0);
}

static void make_root(void)
{
	char program[PATH_MAX];
	size_t i;

	strcpy(root, "/tmp/pfstat-doctor-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++)
		write_file(healthy[i].path, healthy[i].text);
	mkdir(in_root("/proc/self/ns"), 0700);
	link_file("/proc/self/ns/user", "user:[4026531837]");
	link_file("/proc/self/ns/pid", "pid:[4026531836]");
	snprintf(program, sizeof(program), "%s/build/pfdrive", root);
	link_file("/proc/self/exe", program);
}

static void remove_root(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static void change(const struct file *file)
{
	if (file->text)
		write_file(file->path, file->text);
	else
		ck_assert_int_eq(rename(in_root(file->path), in_root("/removed")), 0);
}

/* Undoes a change. A folder that was removed comes back as it was. */
static void restore(const struct file *file)
{
	size_t i;

	if (!file->text) {
		ck_assert_int_eq(rename(in_root("/removed"), in_root(file->path)), 0);
		return;
	}
	for (i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++)
		if (!strcmp(healthy[i].path, file->path)) {
			write_file(file->path, healthy[i].text);
			return;
		}
	unlink(in_root(file->path));
}

/* On any machine running the tests, all sources work. */
static void read_facts_of_x86_64(void)
{
	doctor_facts_read(&facts, root, NULL);
	strcpy(facts.architecture, "x86_64");
	facts.tries = (struct doctor_tries){
		.made = true,
		.perf = { PERF_ACCESS_ALL, 0, facts.perf_event_paranoid, false },
	};
}

/* Checks that @name's line is as given, and that all other lines are ok. */
static void check_line(const char *name, enum doctor_state state, const char *text, const char *fix)
{
	struct doctor_line line;
	size_t i;

	read_facts_of_x86_64();
	for (i = 0; i < nr_doctor_checks; i++) {
		doctor_check_run(&doctor_checks[i], &facts, &line);
		if (strcmp(doctor_checks[i].name, name)) {
			ck_assert_msg(line.state == DOCTOR_OK, "with %s: %s is not ok: %s", name,
				      doctor_checks[i].name, line.text);
			continue;
		}
		ck_assert_msg(line.state == state && strstr(line.text, text) &&
				      !strcmp(line.fix, fix),
			      "%s: state %d, \"%s\", fix \"%s\"", name, line.state, line.text,
			      line.fix);
	}
}

TEST(test_a_healthy_system_has_only_lines_that_are_ok)
{
	FILE *out = fopen(in_root("/out"), "w");
	const char *text;

	read_facts_of_x86_64();
	ck_assert_uint_eq(doctor_print_lines(out, &facts), 0);
	fclose(out);
	text = text_file_read(in_root("/out"));
	ck_assert_ptr_nonnull(strstr(text, "17 ok, 0 limited, 0 missing\n"));
	ck_assert_ptr_null(strstr(text, "run:"));
}

TEST(test_each_missing_thing_changes_its_line_and_no_other)
{
	static const struct {
		struct file file;
		const char *name;
		enum doctor_state state;
		const char *text, *fix;
	} cases[] = {
		{ { "/boot/config-" RELEASE, OPTIONS },
		  "kernel",
		  DOCTOR_LIMITED,
		  "was built without CONFIG_DEBUG_FS, which the module needs; pfdrive uses eBPF",
		  "" },
		{ { "/boot/config-" RELEASE, OPTIONS "CONFIG_DEBUG_FS=y\nCONFIG_PREEMPT_RT=y\n" },
		  "kernel",
		  DOCTOR_LIMITED,
		  "has PREEMPT_RT, for which the module cannot be built; pfdrive uses eBPF instead",
		  "" },
		{ { MODULES "/build/Makefile", NULL },
		  "headers",
		  DOCTOR_LIMITED,
		  "cannot be built again",
		  "apt install linux-headers-" RELEASE },
		{ { "/sys/kernel/security/lockdown", NULL },
		  "lockdown",
		  DOCTOR_OK,
		  "no lockdown",
		  "" },
		{ { "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n" },
		  "lockdown",
		  DOCTOR_LIMITED,
		  "integrity: the module must be signed",
		  "" },
		{ { "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n" },
		  "lockdown",
		  DOCTOR_LIMITED,
		  "eBPF cannot read the kernel's memory",
		  "" },
		{ { "/sys/module/module/parameters/sig_enforce", "Y\n" },
		  "secure boot",
		  DOCTOR_LIMITED,
		  "2 machine owner keys are enrolled",
		  "" },
		{ { EFI, "" },
		  "secure boot",
		  DOCTOR_LIMITED,
		  "cannot be read",
		  "mount -t efivarfs none /sys/firmware/efi/efivars" },
		{ { "/sys/kernel/btf/vmlinux", NULL },
		  "eBPF",
		  DOCTOR_LIMITED,
		  "without CONFIG_DEBUG_INFO_BTF, so a report has no parts",
		  "" },
		{ { "/proc/self/mounts", MOUNTS },
		  "bpffs",
		  DOCTOR_LIMITED,
		  "not mounted",
		  "mount -t bpf -o mode=700 bpf /sys/fs/bpf" },
		{ { "/sys/module/pfstat/version", "0.0\n" },
		  "module",
		  DOCTOR_LIMITED,
		  "version 0.0 is loaded, but pfdrive is " PFDRIVE_VERSION,
		  "rmmod pfstat" },
		{ { "/sys/module/pfstat/parameters/hold_faults", "N\n" },
		  "all faults",
		  DOCTOR_LIMITED,
		  "eBPF counts them, which costs more: the module's parameter hold_faults is off",
		  "sh -c 'echo Y >/sys/module/pfstat/parameters/hold_faults'" },
		{ { "/sys/module/pfstat/parameters/hold_faults", NULL },
		  "all faults",
		  DOCTOR_LIMITED,
		  "older than pfdrive",
		  "" },
		{ { "/proc/self/status", IS_ROOT "CapEff:\t000000ffffffffbf\n" },
		  "capabilities",
		  DOCTOR_LIMITED,
		  "lacks CAP_SETGID;",
		  "" },
		{ { "/proc/self/status",
		    "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t000000c000200000\n" },
		  "capabilities",
		  DOCTOR_LIMITED,
		  "lacks CAP_",
		  "" },
		{ { "/proc/self/mounts",
		    "none /sys/fs/cgroup cgroup2 rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n" },
		  "debugfs",
		  DOCTOR_LIMITED,
		  "not mounted",
		  "mount -t debugfs none "
		  "/sys/kernel/debug" },
		{ { "/proc/self/mounts",
		    "none /sys/kernel/debug debugfs rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n" },
		  "cgroup v2",
		  DOCTOR_LIMITED,
		  "not mounted",
		  "mount -t cgroup2 none "
		  "/sys/fs/cgroup" },
		{ { "/sys/fs/cgroup/cgroup.controllers", "cpu pids\n" },
		  "cgroup v2",
		  DOCTOR_LIMITED,
		  "without the memory controller",
		  "" },
		{ { "/proc/swaps", "Filename\tType\n" },
		  "swap",
		  DOCTOR_LIMITED,
		  "cannot evict anonymous memory",
		  "sh -c 'dd if=/dev/zero of=/swapfile bs=1M count=1024 && chmod 600 /swapfile && "
		  "mkswap /swapfile && swapon /swapfile'" },
		{ { "/proc/kallsyms", NULL }, "symbols", DOCTOR_LIMITED, "CONFIG_KALLSYMS", "" },
		{ { "/proc/sys/kernel/kptr_restrict", "2\n" },
		  "symbols",
		  DOCTOR_OK,
		  "kptr_restrict 2",
		  "" },
		{ { CLOCKS "current_clocksource", "arch_sys_counter\n" },
		  "clock",
		  DOCTOR_OK,
		  "arch_sys_counter, which the module reads without a call",
		  "" },
		{ { CLOCKS "current_clocksource", "hpet\n" },
		  "clock",
		  DOCTOR_LIMITED,
		  "hpet: ",
		  "sh -c 'echo tsc >" CLOCKS "current_clocksource'" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		change(&cases[i].file);
		check_line(cases[i].name, cases[i].state, cases[i].text, cases[i].fix);
		restore(&cases[i].file);
		if (!strcmp(cases[i].file.path, EFI))
			ck_assert_int_eq(rename(in_root("/sys/firmware"), in_root("/firmware")), 0);
	}
}

TEST(test_a_module_that_is_not_loaded_has_the_command_that_loads_it)
{
	const struct file loaded = { "/sys/module/pfstat", NULL };
	char fix[PATH_MAX];

	change(&loaded);
	snprintf(fix, sizeof(fix), "insmod %s/build/pfstat.ko", root);
	check_line("module", DOCTOR_LIMITED,
		   "built for this kernel, but not loaded; pfdrive uses eBPF instead", fix);
	write_file("/build/pfstat.ko", "vermagic=" RELEASE " ~Module signature appended~\n");
	check_line("module", DOCTOR_LIMITED, "built for this kernel and signed", fix);
	write_file("/build/pfstat.ko", "vermagic=6.1.0-9-amd64 SMP");
	check_line("module", DOCTOR_LIMITED, "is for Linux 6.1.0-9-amd64", "make module");
	write_file(MODULES "/updates/dkms/pfstat.ko.xz", "");
	check_line("module", DOCTOR_LIMITED, "installed (" MODULES "/updates/dkms/pfstat.ko.xz)",
		   "modprobe pfstat");
	unlink(in_root(MODULES "/updates/dkms/pfstat.ko.xz"));
	unlink(in_root("/build/pfstat.ko"));
	check_line("module", DOCTOR_LIMITED, "neither loaded, nor installed",
		   "make && sudo make install && sudo modprobe pfstat");
}

/* One check's line, for facts changed by a test. */
static const struct doctor_line *line_of(const char *name)
{
	static struct doctor_line line;
	size_t i;

	for (i = 0; i < nr_doctor_checks && strcmp(doctor_checks[i].name, name); i++)
		;
	ck_assert_uint_lt(i, nr_doctor_checks);
	doctor_check_run(&doctor_checks[i], &facts, &line);
	return &line;
}

#define CHECK_LINE(name, expected, part)                                                       \
	ck_assert_msg(line_of(name)->state == (expected) && strstr(line_of(name)->text, part), \
		      "state %d: %s", line_of(name)->state, line_of(name)->text)

static void refuse(struct doctor_attempt *attempt, int err, const char *why)
{
	attempt->err = err;
	why_set(&attempt->why, "%s", why);
}

/* As uid 1000 without capabilities finds them: paranoid -EACCES from 3 on, all else by this. */
static void become_user(int paranoid)
{
	facts.root = false;
	facts.capabilities = 0;
	facts.perf_event_paranoid = paranoid;
	facts.tries.perf = (struct perf_trial){
		.access = paranoid > 2 ? PERF_ACCESS_NONE :
			  paranoid > 1 ? PERF_ACCESS_USER :
					 PERF_ACCESS_ALL,
		.err = paranoid > 1 ? -EACCES : 0,
		.paranoid = paranoid,
	};
	refuse(&facts.tries.bpf, -EPERM, "cannot load the eBPF programs without CAP_BPF");
	refuse(&facts.tries.module, -EACCES, "the pfstat module requires root");
}

static void check_answer(const char *expected)
{
	char answer[DOCTOR_ANSWER_SIZE];

	doctor_answer(&facts, answer, sizeof(answer));
	ck_assert_str_eq(answer, expected);
}

#define PARTS "the parts of each fault, disk requests"
#define CALLS "each file operation call"

TEST(test_the_answer_to_root_names_the_sources_that_work)
{
	read_facts_of_x86_64();
	check_answer("pfdrive measures here with the module and eBPF: " CALLS ", " PARTS);
	refuse(&facts.tries.module, -EBUSY, "the recorder is held by pfdrive (pid 3)");
	check_answer("pfdrive measures here with the module and eBPF: " CALLS ", " PARTS
		     "; another measurement is running now");
	CHECK_LINE("module", DOCTOR_LIMITED, "but the recorder is held by pfdrive (pid 3)");
	facts.tries.module.err = 0;
	facts.loaded = false;
	check_answer("pfdrive measures here with eBPF: " CALLS ", " PARTS);
	facts.bpffs = false;
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; no eBPF: no "
		     "bpf file system is mounted");
	facts.loaded = true;
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; with "
		     "--no-bpf the module: " CALLS "; no eBPF: no bpf file system is mounted");
	facts.tries.perf = (struct perf_trial){ PERF_ACCESS_NONE, -EPERM, 2, true };
	check_answer("pfdrive --no-bpf measures here with the module: " CALLS
		     ", no parts, no disk requests; no eBPF: no bpf file system is mounted; to "
		     "watch a process, perf is needed too: a system call filter (seccomp) "
		     "refuses perf_event_open(2)");
}

TEST(test_the_answer_to_a_user_names_what_root_could_gain)
{
	read_facts_of_x86_64();
	facts.loaded = false;
	become_user(2);
	check_answer(
		"pfdrive measures here with perf: whole faults except those in system calls, "
		"no disk requests, no reasons of sleeps; with sudo: these too, and perhaps eBPF: " PARTS);
	CHECK_LINE("perf", DOCTOR_LIMITED, "kernel.perf_event_paranoid is 2");
	ck_assert_str_eq(line_of("perf")->fix, "sudo sysctl kernel.perf_event_paranoid=1");
	CHECK_LINE("module", DOCTOR_LIMITED, "but not loaded; pfdrive uses perf instead");
	CHECK_LINE("capabilities", DOCTOR_LIMITED, "for root, or for a process with CAP_PERFMON");
	CHECK_LINE("eBPF", DOCTOR_LIMITED, "cannot load the eBPF programs without CAP_BPF");
	facts.loaded = true;
	check_answer(
		"pfdrive measures here with perf: whole faults except those in system calls, "
		"no disk requests, no reasons of sleeps; with sudo: these too, and perhaps the module and "
		"eBPF: " PARTS);
	CHECK_LINE("module", DOCTOR_LIMITED, "but the pfstat module requires root");
	become_user(1);
	facts.loaded = false;
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; with sudo "
		     "perhaps eBPF: " PARTS);
	facts.btf = false;
	check_answer(
		"pfdrive measures here with perf: whole faults, no disk requests; no eBPF with "
		"sudo either: this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	facts.btf = true;
	refuse(&facts.tries.bpf, -EOPNOTSUPP, "cannot load the eBPF programs");
	check_answer(
		"pfdrive measures here with perf: whole faults, no disk requests; no eBPF with "
		"sudo either: this kernel has no ftrace direct calls, which the programs "
		"need");
	facts.container = true;
	become_user(2);
	check_answer(
		"pfdrive measures here with perf: whole faults except those in system calls, "
		"no disk requests, no reasons of sleeps; with sudo perhaps these too, and perhaps eBPF: " PARTS);
}

/* Ubuntu's default hides the kernel's functions from users. */
TEST(test_reasons_of_sleeps_need_the_names_of_the_kernel)
{
	read_facts_of_x86_64();
	facts.loaded = false;
	become_user(1);
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; with sudo "
		     "perhaps eBPF: " PARTS);
	facts.kptr_restrict = 1;
	check_answer("pfdrive measures here with perf: whole faults, no disk requests, no reasons "
		     "of sleeps; with sudo perhaps eBPF: " PARTS);
	facts.capabilities |= 1ULL << 34; /* CAP_SYSLOG */
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; with sudo "
		     "perhaps eBPF: " PARTS);
}

TEST(test_perf_shows_reclaim_to_root_with_tracefs)
{
	read_facts_of_x86_64();
	facts.loaded = facts.bpffs = false;
	facts.tracefs = true;
	check_answer("pfdrive measures here with perf: whole faults and reclaim, no disk requests; "
		     "no eBPF: no bpf file system is mounted");
	become_user(1);
	facts.loaded = false;
	facts.tracefs = true;
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; with sudo "
		     "perhaps eBPF: " PARTS);
}

TEST(test_paranoid_3_and_4_leave_a_user_nothing_to_measure_with)
{
	char answer[DOCTOR_ANSWER_SIZE], fix[] = "sudo sysctl kernel.perf_event_paranoid=2";
	int paranoid;

	for (paranoid = 3; paranoid <= 4; paranoid++) {
		read_facts_of_x86_64();
		facts.loaded = false;
		become_user(paranoid);
		snprintf(answer, sizeof(answer),
			 "pfdrive cannot measure here as this user: kernel.perf_event_paranoid is "
			 "%d, with which this kernel refuses perf events to users without "
			 "CAP_SYS_ADMIN; with sudo: perf, perhaps also eBPF",
			 paranoid);
		check_answer(answer);
		CHECK_LINE("perf", DOCTOR_MISSING, "this user can sample no faults");
		ck_assert_str_eq(line_of("perf")->fix, fix);
		CHECK_LINE("module", DOCTOR_MISSING, "not loaded");
		CHECK_LINE("eBPF", DOCTOR_MISSING, "without CAP_BPF");
	}
}

TEST(test_a_filter_of_system_calls_is_named_as_the_reason)
{
	read_facts_of_x86_64();
	facts.loaded = false;
	facts.tries.filtered = true;
	facts.tries.bpf_call = -EPERM;
	refuse(&facts.tries.bpf, -EPERM, "cannot load the eBPF programs: a filter");
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; no eBPF: a "
		     "system call filter (seccomp) refuses bpf(2)");
	CHECK_LINE("eBPF", DOCTOR_LIMITED, "cannot load the eBPF programs: a filter");
	CHECK_LINE("module", DOCTOR_LIMITED, "pfdrive uses perf instead");
	become_user(2);
	check_answer(
		"pfdrive measures here with perf: whole faults except those in system calls, "
		"no disk requests, no reasons of sleeps; with sudo: these too; no eBPF: a system call filter "
		"(seccomp) refuses bpf(2)");
	CHECK_LINE("eBPF", DOCTOR_LIMITED, "CAP_BPF; root cannot either: a system call filter");
	/* It refuses all calls from such a user itself. */
	strcpy(facts.release, "5.15.0-100-generic");
	check_answer(
		"pfdrive measures here with perf: whole faults except those in system calls, "
		"no disk requests, no reasons of sleeps; with sudo: these too, and perhaps eBPF: " PARTS);
	read_facts_of_x86_64();
	facts.loaded = false;
	facts.container = true;
	facts.tries.bpf_call = -ENOSYS;
	refuse(&facts.tries.bpf, -ENOSYS, "cannot load the eBPF programs");
	facts.tries.perf = (struct perf_trial){ PERF_ACCESS_NONE, -EPERM, 2, true };
	check_answer("pfdrive cannot measure here: the module is not loaded; eBPF: this kernel has "
		     "no bpf(2) (CONFIG_BPF_SYSCALL); perf: a system call filter (seccomp) "
		     "refuses perf_event_open(2); start the container with the options below");
	CHECK_LINE("perf", DOCTOR_MISSING, "refuses perf_event_open(2)");
	ck_assert_str_eq(line_of("perf")->fix,
			 "the container with --security-opt seccomp=unconfined");
}

TEST(test_root_without_any_source_gets_all_reasons)
{
	read_facts_of_x86_64();
	facts.loaded = false;
	refuse(&facts.tries.bpf, -EPERM, "cannot load the eBPF programs: permission denied");
	facts.tries.perf = (struct perf_trial){ PERF_ACCESS_NONE, -ENOSYS, INT_MAX, false };
	check_answer("pfdrive cannot measure here: the module is not loaded; eBPF: the kernel "
		     "refuses to load the programs; perf: this kernel has no perf_event_open(2) "
		     "(CONFIG_PERF_EVENTS); use another kernel, or the lab (tools/lab shell)");
	CHECK_LINE("perf", DOCTOR_MISSING, "no perf_event_open(2)");
}

TEST(test_a_copied_machine_is_judged_by_its_files)
{
	doctor_facts_read(&facts, root, NULL);
	check_answer("nothing was tried; by the files, pfdrive measures here with the module and "
		     "eBPF: " CALLS ", " PARTS);
	CHECK_LINE("eBPF", DOCTOR_OK, "not tried; the kernel has BTF");
	CHECK_LINE("perf", DOCTOR_OK, "3, which does not restrict this user");
	facts.loaded = false;
	strcpy(facts.lockdown, "confidentiality");
	CHECK_LINE("module", DOCTOR_LIMITED, "not loaded; pfdrive uses perf instead");
	facts.perf_event_paranoid = INT_MAX;
	CHECK_LINE("module", DOCTOR_MISSING, "not loaded");
	CHECK_LINE("perf", DOCTOR_MISSING, "no perf_event_open(2)");
	facts.capabilities = 0;
	facts.perf_event_paranoid = 2;
	CHECK_LINE("perf", DOCTOR_LIMITED, "no faults in system calls");
}

TEST(test_with_perf_each_path_can_be_measured)
{
	read_facts_of_x86_64();
	facts.loaded = false;
	become_user(2);
	strcpy(facts.path, "/x");
	strcpy(facts.filesystem, "tmpfs");
	CHECK_LINE("path", DOCTOR_OK, "'/x' is on tmpfs: perf samples faults on all");
	CHECK_LINE("all faults", DOCTOR_OK, "except those in get_user_pages()");
}

TEST(test_headers_are_installed_with_the_command_of_the_distribution)
{
	static const struct {
		const char *os_release, *release, *fix;
	} cases[] = {
		{ "ID=ubuntu\nID_LIKE=debian\n", "6.8.0-31-generic",
		  "apt install linux-headers-6.8.0-31-generic" },
		{ "ID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\n", "6.8.0-31-generic",
		  "apt install linux-headers-6.8.0-31-generic" },
		{ "ID=fedora\n", "6.11.4-301.fc41.x86_64",
		  "dnf install kernel-devel-6.11.4-301.fc41.x86_64" },
		{ "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "6.12.0-55.el10.x86_64",
		  "dnf install kernel-devel-6.12.0-55.el10.x86_64" },
		{ "ID=arch\n", "6.12.1-arch1-1", "pacman -S linux-headers" },
		{ "ID=manjaro\nID_LIKE=arch\n", "6.12.1-1-lts", "pacman -S linux-lts-headers" },
		{ "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", "6.11.0-1-default",
		  "zypper install kernel-default-devel" },
		{ "ID=void\n", "6.12.1_1", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file("/etc/os-release", cases[i].os_release);
		write_file("/proc/sys/kernel/osrelease", cases[i].release);
		doctor_facts_read(&facts, root, NULL);
		facts.loaded = false;
		CHECK_LINE("headers", DOCTOR_LIMITED, "the module cannot be built");
		ck_assert_str_eq(line_of("headers")->fix, cases[i].fix);
	}
	facts.manager = MANAGER_APT;
	facts.root = false;
	ck_assert_str_eq(line_of("headers")->fix, "sudo apt install linux-headers-6.12.1_1");
}

TEST(test_kernels_outside_of_the_tested_range_are_reported)
{
	read_facts_of_x86_64();
	strcpy(facts.release, "4.19.0-27-amd64");
	CHECK_LINE("kernel", DOCTOR_LIMITED, "is older than " OLDEST_BPF_KERNEL);
	strcpy(facts.release, "99.1.0");
	CHECK_LINE("kernel", DOCTOR_LIMITED, "is newer than " NEWEST_KERNEL);
	strcpy(facts.release, NEWEST_KERNEL ".4-cloud");
	CHECK_LINE("kernel", DOCTOR_OK, "within the tested range");
	strcpy(facts.architecture, "aarch64");
	CHECK_LINE("kernel", DOCTOR_OK, "within the tested range");
	CHECK_LINE("all faults", DOCTOR_LIMITED, "on x86-64 only");
	strcpy(facts.architecture, "riscv64");
	CHECK_LINE("kernel", DOCTOR_LIMITED, "for x86-64 and arm64 only");
	facts.page_size = 65536;
	CHECK_LINE("page size", DOCTOR_OK, "65536 bytes");
	facts.page_size = 131072;
	CHECK_LINE("page size", DOCTOR_MISSING, "131072 bytes");
}

TEST(test_a_kernel_without_the_module_is_measured_with_ebpf)
{
	read_facts_of_x86_64();
	facts.tries.made = false;
	strcpy(facts.release, "5.15.0-100-generic");
	facts.loaded = false;
	facts.headers = false;
	CHECK_LINE("kernel", DOCTOR_LIMITED, "the module cannot be built; pfdrive uses eBPF");
	CHECK_LINE("module", DOCTOR_LIMITED, "not for this kernel; pfdrive uses eBPF instead");
	ck_assert_str_eq(line_of("module")->fix, "");
	CHECK_LINE("headers", DOCTOR_OK, "not needed");
	ck_assert_str_eq(line_of("headers")->fix, "");
	CHECK_LINE("all faults", DOCTOR_OK, "eBPF counts them");
	facts.btf = false;
	CHECK_LINE("kernel", DOCTOR_LIMITED, "the module cannot be built; pfdrive uses perf");
	CHECK_LINE("module", DOCTOR_LIMITED, "not for this kernel; pfdrive uses perf");
	facts.perf_event_paranoid = INT_MAX;
	CHECK_LINE("kernel", DOCTOR_MISSING, "the module cannot be built");
	CHECK_LINE("module", DOCTOR_MISSING, "not for this kernel");
}

TEST(test_pfdrive_without_ebpf_needs_the_module_or_perf)
{
	read_facts_of_x86_64();
	facts.without_bpf = true;
	CHECK_LINE("eBPF", DOCTOR_LIMITED, "built without eBPF (BPF=no)");
	facts.loaded = false;
	facts.headers = false;
	CHECK_LINE("module", DOCTOR_LIMITED, "not loaded; pfdrive uses perf instead");
	check_answer("pfdrive measures here with perf: whole faults, no disk requests; no eBPF: "
		     "this pfdrive was built without it (BPF=no)");
	facts.tries.perf.access = PERF_ACCESS_NONE;
	CHECK_LINE("module", DOCTOR_MISSING, "not loaded");
}

TEST(test_the_file_system_of_a_path_decides_its_line)
{
	static const struct {
		const char *type;
		enum doctor_state state;
		const char *text;
	} cases[] = {
		{ "ext4", DOCTOR_OK, "'/x' is on ext4, device sda1" },
		{ "overlay", DOCTOR_OK, "overlay" },
		{ "btrfs", DOCTOR_LIMITED, "foreign" },
		{ "nfs4", DOCTOR_LIMITED, "foreign" },
		{ "f2fs", DOCTOR_LIMITED, "not tested on" },
		{ "tmpfs", DOCTOR_MISSING, "has no disk" },
	};
	size_t i;

	doctor_facts_read(&facts, root, in_root("/none"));
	CHECK_LINE("path", DOCTOR_MISSING, "No such file");
	doctor_facts_read(&facts, root, "/proc");
	ck_assert_str_eq(facts.filesystem, "proc");
	strcpy(facts.path, "/x");
	strcpy(facts.device, "sda1");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(facts.filesystem, cases[i].type);
		CHECK_LINE("path", cases[i].state, cases[i].text);
	}
}

TEST(test_containers_and_missing_privileges_are_reported)
{
	unlink(in_root("/proc/self/ns/pid"));
	link_file("/proc/self/ns/pid", "pid:[4026532189]");
	check_line("namespace", DOCTOR_LIMITED, "separate process ids", "");
	doctor_facts_read(&facts, root, NULL);
	facts.user_namespace = true;
	CHECK_LINE("capabilities", DOCTOR_LIMITED, "user namespace");
	facts.user_namespace = false;
	facts.capabilities = 0;
	CHECK_LINE("capabilities", DOCTOR_MISSING, "CAP_PERFMON");
	facts.root = false;
	CHECK_LINE("capabilities", DOCTOR_MISSING, "for root, or for a process with CAP_PERFMON");
	ck_assert_str_eq(line_of("capabilities")->fix, "sudo pfdrive doctor");
	facts.root = true;
	CHECK_LINE("perf", DOCTOR_MISSING, "3: ");
	ck_assert_str_eq(line_of("perf")->fix, "sysctl kernel.perf_event_paranoid=2");
	facts.debugfs_readable = false;
	CHECK_LINE("debugfs", DOCTOR_LIMITED, "cannot read it");
}

/* As podman and docker mark and mount it, without options. */
TEST(test_a_container_is_told_the_options_that_it_lacks)
{
	static const struct {
		const char *line;
		enum doctor_state state;
		const char *text, *fix;
	} cases[] = {
		{ "capabilities", DOCTOR_MISSING, "CAP_PERFMON",
		  "the container with --cap-add=PERFMON --cap-add=BPF" },
		{ "namespace", DOCTOR_LIMITED, "separate process ids",
		  "the container with --pid=host" },
		{ "bpffs", DOCTOR_MISSING, "not mounted",
		  "the container with -v /sys/fs/bpf:/sys/fs/bpf" },
		{ "debugfs", DOCTOR_LIMITED, "not mounted",
		  "the container with -v /sys/kernel/debug:/sys/kernel/debug" },
		{ "lockdown", DOCTOR_LIMITED, "not known",
		  "the container with -v /sys/kernel/security:/sys/kernel/security:ro" },
		{ "secure boot", DOCTOR_LIMITED, "does not see the firmware", "" },
		{ "perf", DOCTOR_MISSING,
		  "3: ", "sysctl kernel.perf_event_paranoid=2 (on the host)" },
	};
	size_t i;

	write_file("/run/.containerenv", "");
	unlink(in_root("/proc/self/ns/pid"));
	link_file("/proc/self/ns/pid", "pid:[4026532189]");
	write_file("/proc/self/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0\n");
	change(&(struct file){ "/boot/config-" RELEASE, NULL });
	unlink(in_root("/sys/kernel/security/lockdown"));
	write_file("/proc/self/status", IS_ROOT "CapEff:\t00000000800405fb\n");
	doctor_facts_read(&facts, root, NULL);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_LINE(cases[i].line, cases[i].state, cases[i].text);
		ck_assert_str_eq(line_of(cases[i].line)->fix, cases[i].fix);
	}
}

static void write_secure_boot(unsigned char value)
{
	const unsigned char variable[] = { 6, 0, 0, 0, value };
	FILE *file = fopen(in_root(EFI), "w");

	ck_assert_uint_eq(fwrite(variable, 1, sizeof(variable), file), sizeof(variable));
	fclose(file);
}

TEST(test_secure_boot_requires_an_enrolled_key)
{
	write_file(EFI, "");
	write_secure_boot(0);
	check_line("secure boot", DOCTOR_OK, "off", "");
	write_secure_boot(1);
	check_line("secure boot", DOCTOR_LIMITED, "2 machine owner keys", "");
	write_file("/proc/keys", "0f1e I------ 1 perm 1f0b0000 0 0 keyring .machine: empty\n");
	check_line("secure boot", DOCTOR_LIMITED, "no machine owner key",
		   "mokutil --import MOK.der");
	/* Without the file the level is unknown, if the kernel may have one. */
	change(&(struct file){ "/boot/config-" RELEASE, NULL });
	write_secure_boot(0);
	unlink(in_root("/sys/kernel/security/lockdown"));
	check_line("lockdown", DOCTOR_LIMITED, "not known",
		   "mount -t securityfs none /sys/kernel/security");
}

TEST(test_a_folder_that_is_not_the_root_of_a_system_is_refused)
{
	ck_assert_int_eq(doctor_facts_read(&facts, in_root("/etc"), NULL), -ENOENT);
	ck_assert_int_eq(doctor_facts_read(&facts, root, NULL), 0);
}

TEST(test_the_report_has_versions_and_options)
{
	FILE *out = fopen(in_root("/out"), "w");

	doctor_facts_read(&facts, root, NULL);
	doctor_print_machine(out, &facts);
	fclose(out);
	text_file_check(in_root("/out"), "pfdrive        " PFDRIVE_VERSION "\n");
	text_file_check(in_root("/out"), "distribution   Debian GNU/Linux 13 (trixie)\n");
	text_file_check(in_root("/out"), "kernel         " RELEASE "\n");
	text_file_check(in_root("/out"), "CONFIG_KPROBES=y\n");
	text_file_check(in_root("/out"), "CONFIG_PREEMPT_RT=n\n");
}

/* The manual has the table as it is printed. */
TEST(test_the_manual_has_the_table_of_sources)
{
	FILE *out = fopen(in_root("/out"), "w+");
	char *line = NULL;
	size_t size = 0;
	int lines = 0;

	ck_assert_int_eq(doctor_print_sources(out), 0);
	rewind(out);
	while (getline(&line, &size, out) > 0) {
		text_file_check("Documentation/user/without_privilege.rst", line);
		lines++;
	}
	ck_assert_int_gt(lines, 10);
	free(line);
	fclose(out);
}

FIXTURE(make_root, remove_root);
