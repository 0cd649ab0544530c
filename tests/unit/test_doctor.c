// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfdrive doctor: a healthy system has only lines that are ok, and each missing thing changes
 * the line about it and no other. The systems are folders with the files that doctor reads.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner.h"
#include "text_file.h"
#include "user/doctor/doctor_checks.h"
#include "user/doctor/doctor_print.h"
#include "util/version.h"

#define RELEASE	 "6.12.5-amd64"
#define MODULES	 "/lib/modules/" RELEASE
#define EFI	 "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define CLOCKS	 "/sys/devices/system/clocksource/clocksource0/"
#define ALL_CAPS "CapEff:\t000001ffffffffff\n"
#define IS_ROOT	 "Uid:\t0\t0\t0\t0\n"
#define OPTIONS	 "CONFIG_KPROBES=y\nCONFIG_KRETPROBES=y\nCONFIG_TRACEPOINTS=y\n"
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

/* On any machine that the tests run on. */
static void read_facts_of_x86_64(void)
{
	doctor_facts_read(&facts, root, NULL);
	strcpy(facts.architecture, "x86_64");
}

/* Checks that the line of @name is as given, and that all other lines are ok. */
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

START_TEST(test_a_healthy_system_has_only_lines_that_are_ok)
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
END_TEST

START_TEST(test_each_missing_thing_changes_its_line_and_no_other)
{
	static const struct {
		struct file file;
		const char *name;
		enum doctor_state state;
		const char *text, *fix;
	} cases[] = {
		{ { "/boot/config-" RELEASE, OPTIONS },
		  "kernel",
		  DOCTOR_MISSING,
		  "was built without CONFIG_DEBUG_FS",
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
		  "2 keys of the machine's owner are enrolled",
		  "" },
		{ { EFI, "" },
		  "secure boot",
		  DOCTOR_LIMITED,
		  "cannot be read",
		  "mount -t efivarfs none /sys/firmware/efi/efivars" },
		{ { "/sys/kernel/btf/vmlinux", NULL }, "BTF", DOCTOR_LIMITED, "--no-bpf", "" },
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
		{ { "/proc/sys/kernel/perf_event_paranoid", NULL },
		  "perf",
		  DOCTOR_LIMITED,
		  "no perf_event_open(2)",
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
		{ { "/proc/kallsyms", NULL }, "symbols", DOCTOR_MISSING, "CONFIG_KALLSYMS", "" },
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
END_TEST

START_TEST(test_a_module_that_is_not_loaded_has_the_command_that_loads_it)
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
END_TEST

/* The line of one check, for facts that a test has changed. */
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

START_TEST(test_module_is_missing_if_ebpf_cannot_replace_it)
{
	static const struct {
		struct file file;
		const char *text;
	} cases[] = {
		{ { "/sys/kernel/btf/vmlinux", NULL }, "not loaded" },
		{ { "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n" },
		  "not loaded" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		change(&cases[i].file);
		doctor_facts_read(&facts, root, NULL);
		facts.loaded = false;
		CHECK_LINE("module", DOCTOR_MISSING, cases[i].text);
		restore(&cases[i].file);
	}
}
END_TEST

START_TEST(test_headers_are_installed_with_the_command_of_the_distribution)
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
END_TEST

START_TEST(test_kernels_outside_of_the_tested_range_are_reported)
{
	read_facts_of_x86_64();
	strcpy(facts.release, "4.19.0-27-amd64");
	CHECK_LINE("kernel", DOCTOR_MISSING, "is older than " OLDEST_BPF_KERNEL);
	strcpy(facts.release, "99.1.0");
	CHECK_LINE("kernel", DOCTOR_LIMITED, "is newer than " NEWEST_KERNEL);
	strcpy(facts.release, NEWEST_KERNEL ".4-cloud");
	CHECK_LINE("kernel", DOCTOR_OK, "within the tested range");
	strcpy(facts.architecture, "aarch64");
	CHECK_LINE("kernel", DOCTOR_OK, "within the tested range");
	CHECK_LINE("all faults", DOCTOR_LIMITED, "on x86-64 only");
	strcpy(facts.architecture, "riscv64");
	CHECK_LINE("kernel", DOCTOR_MISSING, "x86-64 and arm64 only");
	facts.page_size = 65536;
	CHECK_LINE("page size", DOCTOR_OK, "65536 bytes");
	facts.page_size = 131072;
	CHECK_LINE("page size", DOCTOR_MISSING, "131072 bytes");
}
END_TEST

START_TEST(test_a_kernel_without_the_module_is_measured_with_ebpf)
{
	read_facts_of_x86_64();
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
	CHECK_LINE("kernel", DOCTOR_MISSING, "the module cannot be built");
	CHECK_LINE("module", DOCTOR_MISSING, "not for this kernel");
}
END_TEST

START_TEST(test_pfdrive_without_ebpf_needs_the_module)
{
	read_facts_of_x86_64();
	facts.without_bpf = true;
	CHECK_LINE("BTF", DOCTOR_LIMITED, "built without eBPF (BPF=no)");
	facts.loaded = false;
	facts.headers = false;
	CHECK_LINE("module", DOCTOR_MISSING, "not loaded");
}
END_TEST

START_TEST(test_the_file_system_of_a_path_decides_its_line)
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
END_TEST

START_TEST(test_containers_and_missing_privileges_are_reported)
{
	unlink(in_root("/proc/self/ns/pid"));
	link_file("/proc/self/ns/pid", "pid:[4026532189]");
	check_line("namespace", DOCTOR_LIMITED, "process ids of its own", "");
	doctor_facts_read(&facts, root, NULL);
	facts.user_namespace = true;
	CHECK_LINE("capabilities", DOCTOR_MISSING, "user namespace");
	facts.user_namespace = false;
	facts.capabilities = 0;
	CHECK_LINE("capabilities", DOCTOR_MISSING, "CAP_PERFMON");
	facts.root = false;
	CHECK_LINE("capabilities", DOCTOR_MISSING, "only root, or a process with CAP_PERFMON");
	ck_assert_str_eq(line_of("capabilities")->fix, "sudo pfdrive doctor");
	facts.root = true;
	CHECK_LINE("perf", DOCTOR_LIMITED, "3: ");
	ck_assert_str_eq(line_of("perf")->fix, "sysctl kernel.perf_event_paranoid=2");
	facts.debugfs_readable = false;
	CHECK_LINE("debugfs", DOCTOR_LIMITED, "cannot read it");
}
END_TEST

/* As podman and docker mark and mount it, without options. */
START_TEST(test_a_container_is_told_the_options_that_it_lacks)
{
	static const struct {
		const char *line, *text, *fix;
	} cases[] = {
		{ "capabilities", "CAP_PERFMON",
		  "the container with --cap-add=PERFMON --cap-add=BPF" },
		{ "namespace", "process ids of its own", "the container with --pid=host" },
		{ "bpffs", "not mounted", "the container with -v /sys/fs/bpf:/sys/fs/bpf" },
		{ "debugfs", "not mounted",
		  "the container with -v /sys/kernel/debug:/sys/kernel/debug" },
		{ "lockdown", "not known",
		  "the container with -v /sys/kernel/security:/sys/kernel/security:ro" },
		{ "secure boot", "does not see the firmware", "" },
		{ "perf", "3: ", "sysctl kernel.perf_event_paranoid=2 (on the host)" },
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
		CHECK_LINE(cases[i].line, i ? DOCTOR_LIMITED : DOCTOR_MISSING, cases[i].text);
		ck_assert_str_eq(line_of(cases[i].line)->fix, cases[i].fix);
	}
}
END_TEST

static void write_secure_boot(unsigned char value)
{
	const unsigned char variable[] = { 6, 0, 0, 0, value };
	FILE *file = fopen(in_root(EFI), "w");

	ck_assert_uint_eq(fwrite(variable, 1, sizeof(variable), file), sizeof(variable));
	fclose(file);
}

START_TEST(test_secure_boot_requires_an_enrolled_key)
{
	write_file(EFI, "");
	write_secure_boot(0);
	check_line("secure boot", DOCTOR_OK, "off", "");
	write_secure_boot(1);
	check_line("secure boot", DOCTOR_LIMITED, "2 keys", "");
	write_file("/proc/keys", "0f1e I------ 1 perm 1f0b0000 0 0 keyring .machine: empty\n");
	check_line("secure boot", DOCTOR_LIMITED, "no key", "mokutil --import MOK.der");
	/* Without its file the level is unknown, if the kernel may have one. */
	change(&(struct file){ "/boot/config-" RELEASE, NULL });
	write_secure_boot(0);
	unlink(in_root("/sys/kernel/security/lockdown"));
	check_line("lockdown", DOCTOR_LIMITED, "not known",
		   "mount -t securityfs none /sys/kernel/security");
}
END_TEST

START_TEST(test_a_folder_that_is_not_the_root_of_a_system_is_refused)
{
	ck_assert_int_eq(doctor_facts_read(&facts, in_root("/etc"), NULL), -ENOENT);
	ck_assert_int_eq(doctor_facts_read(&facts, root, NULL), 0);
}
END_TEST

START_TEST(test_the_report_has_versions_and_options)
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
END_TEST

RUN_TESTS_WITH("doctor", make_root, remove_root, test_a_healthy_system_has_only_lines_that_are_ok,
	       test_each_missing_thing_changes_its_line_and_no_other,
	       test_a_module_that_is_not_loaded_has_the_command_that_loads_it,
	       test_module_is_missing_if_ebpf_cannot_replace_it,
	       test_headers_are_installed_with_the_command_of_the_distribution,
	       test_kernels_outside_of_the_tested_range_are_reported,
	       test_a_kernel_without_the_module_is_measured_with_ebpf,
	       test_pfdrive_without_ebpf_needs_the_module,
	       test_the_file_system_of_a_path_decides_its_line,
	       test_containers_and_missing_privileges_are_reported,
	       test_a_container_is_told_the_options_that_it_lacks,
	       test_secure_boot_requires_an_enrolled_key,
	       test_a_folder_that_is_not_the_root_of_a_system_is_refused,
	       test_the_report_has_versions_and_options)
