// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges the facts about a machine. Each check is a pure function that writes one line, with the
 * meaning for pfstat and the command to change it. Only a line in state missing prevents a
 * measurement.
 */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "doctor/source_checks.h"
#include "privilege/privilege.h"
#include "util/array.h"
#include "util/kernel_release.h"
#include "util/page_size.h"
#include "util/version.h"

static const char *instead_or_other(const struct doctor_facts *facts)
{
	const char *other = doctor_line_instead(facts);

	return other[0] ? other : "; use another kernel";
}

static const char *option_that_lacks(const struct doctor_facts *facts)
{
	size_t i;

	for (i = 0; i < NR_NEEDED_OPTIONS; i++)
		if (facts->options[i] == OPTION_OFF)
			return kernel_option_names[i];
	return NULL;
}

static void check_kernel(const struct doctor_facts *facts, struct doctor_line *line)
{
	const unsigned int number = kernel_release_number(facts->release);
	const char *release = facts->release;

	if (strcmp(facts->architecture, "x86_64") && strcmp(facts->architecture, "aarch64"))
		doctor_line_set(line, doctor_line_without_source(facts),
				"%s: the module and eBPF are for x86-64 and arm64 only%s",
				facts->architecture, doctor_line_instead(facts));
	else if (number < kernel_release_number(OLDEST_BPF_KERNEL))
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"Linux %s is older than %s, the oldest for eBPF; use a newer kernel, or the "
			"lab (tools/lab shell)%s",
			release, OLDEST_BPF_KERNEL, doctor_line_instead(facts));
	else if (doctor_is_too_old_for_module(facts))
		doctor_line_set(line, doctor_line_without_source(facts),
				"Linux %s is older than %s, so the module cannot be built%s",
				release, OLDEST_KERNEL, doctor_line_instead(facts));
	else if (option_that_lacks(facts))
		doctor_line_set(line, doctor_line_without_source(facts),
				"Linux %s was built without %s, which the module needs%s", release,
				option_that_lacks(facts), instead_or_other(facts));
	else if (facts->options[CONFIG_PREEMPT_RT] == OPTION_ON)
		doctor_line_set(line, doctor_line_without_source(facts),
				"Linux %s has PREEMPT_RT, for which the module cannot be built%s",
				release, instead_or_other(facts));
	else if (number > kernel_release_number(NEWEST_KERNEL))
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"Linux %s is newer than %s, the newest that pfstat was tested on; the module "
			"tests itself when it is loaded",
			release, NEWEST_KERNEL);
	else
		doctor_line_set(line, DOCTOR_OK, "Linux %s, within the tested range of %s to %s",
				release, OLDEST_KERNEL, NEWEST_KERNEL);
}

/*
 * What follows the last dash in a release: "lts" for "6.12.1-1-lts", or "" if this part is a
 * number.
 */
static const char *flavour(const char *release)
{
	const char *dash = strrchr(release, '-');

	return dash && strspn(dash + 1, "0123456789") != strlen(dash + 1) ? dash + 1 : "";
}

static void fix_headers(const struct doctor_facts *facts, struct doctor_line *line)
{
	const char *release = facts->release, *kind = flavour(release);

	switch (facts->manager) {
	case MANAGER_APT:
		doctor_line_fix_as_root(line, facts, "apt install linux-headers-%s", release);
		break;
	case MANAGER_DNF:
		doctor_line_fix_as_root(line, facts, "dnf install kernel-devel-%s", release);
		break;
	case MANAGER_PACMAN: /* Arch's own kernel is 6.12.1-arch1-1. */
		doctor_line_fix_as_root(line, facts, "pacman -S linux-%s%sheaders", kind,
					kind[0] ? "-" : "");
		break;
	case MANAGER_ZYPPER:
		doctor_line_fix_as_root(line, facts, "zypper install kernel-%s-devel",
					kind[0] ? kind : "default");
		break;
	case MANAGER_UNKNOWN:
		break;
	}
}

static void check_headers(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (doctor_is_too_old_for_module(facts)) {
		doctor_line_set(line, DOCTOR_OK, "not needed: the module is not for this kernel");
	} else if (facts->headers) {
		doctor_line_set(line, DOCTOR_OK,
				"installed for this kernel: the module can be built");
	} else if (facts->loaded || facts->installed[0] ||
		   !strcmp(facts->built_for, facts->release)) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"not installed for this kernel; a module exists, but it cannot be built again");
		fix_headers(facts, line);
	} else {
		doctor_line_set(line, doctor_line_without_source(facts),
				"not installed for this kernel, so the module cannot be built");
		fix_headers(facts, line);
	}
}

static void check_lockdown(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->lockdown[0] && !facts->can_lock_down) {
		doctor_line_set(line, DOCTOR_OK, "this kernel has no lockdown");
	} else if (!facts->lockdown[0]) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"/sys/kernel/security/lockdown cannot be read, so the level is not known");
		if (facts->container)
			doctor_line_fix_container(
				line, "-v /sys/kernel/security:/sys/kernel/security:ro");
		else
			doctor_line_fix_as_root(line, facts,
						"mount -t securityfs none /sys/kernel/security");
	} else if (!strcmp(facts->lockdown, "none")) {
		doctor_line_set(line, DOCTOR_OK, "none");
	} else {
		doctor_line_set(line, DOCTOR_LIMITED, "%s: the module must be signed%s",
				facts->lockdown,
				strcmp(facts->lockdown, "confidentiality") ?
					"" :
					"; eBPF cannot read the kernel's memory, so use --no-bpf");
	}
}

static void check_secure_boot(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->secure_boot == SECURE_BOOT_UNKNOWN && facts->container) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"this container does not see the firmware, so it is not known; run pfdrive "
			"doctor on the host");
	} else if (facts->secure_boot == SECURE_BOOT_UNKNOWN) {
		doctor_line_set(line, DOCTOR_LIMITED,
				"the firmware's variables cannot be read, so it is not "
				"known");
		doctor_line_fix_as_root(line, facts,
					"mount -t efivarfs none /sys/firmware/efi/efivars");
	} else if (facts->secure_boot == SECURE_BOOT_OFF && !facts->must_be_signed) {
		doctor_line_set(line, DOCTOR_OK, "off: an unsigned module can be loaded");
	} else if (!facts->machine_keys) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"%s; no machine owner key is visible to this user. A module needs a "
			"signature; see Documentation/user/security.rst",
			facts->must_be_signed ? "the kernel refuses unsigned modules" : "on");
		doctor_line_fix_as_root(line, facts, "mokutil --import MOK.der");
	} else {
		doctor_line_set(line, DOCTOR_LIMITED,
				"%s; %u machine owner keys are enrolled. The module needs a "
				"signature with one of them; see Documentation/user/security.rst",
				facts->must_be_signed ? "the kernel refuses unsigned modules" :
							"on",
				facts->machine_keys);
	}
}

static void check_capabilities(const struct doctor_facts *facts, struct doctor_line *line)
{
	const uint64_t lacks =
		doctor_lacks(facts, CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_BPF) |
					    CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SETUID) |
					    CAPABILITY(CAP_SETGID) |
					    CAPABILITY(CAP_DAC_READ_SEARCH));
	char names[CAPABILITY_NAMES_SIZE];

	capabilities_name(lacks, names, sizeof(names));
	if (facts->user_namespace) {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"this process is in a user namespace, where no capability counts; run "
			"pfdrive outside it, as root");
	} else if (!facts->root && lacks & CAPABILITY(CAP_PERFMON)) {
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"the module and eBPF are for root, or for a process with CAP_PERFMON and "
			"CAP_BPF");
		snprintf(line->fix, sizeof(line->fix), "sudo pfdrive doctor");
	} else if (lacks & CAPABILITY(CAP_PERFMON)) {
		doctor_line_set(line, doctor_line_without_source(facts),
				"lacks %s; the module requires CAP_PERFMON", names);
		if (facts->container)
			doctor_line_fix_container(line, "--cap-add=PERFMON --cap-add=BPF");
	} else if (lacks) {
		doctor_line_set(line, DOCTOR_LIMITED,
				"lacks %s; see Documentation/user/security.rst", names);
	} else {
		doctor_line_set(line, DOCTOR_OK, "all that the commands need");
	}
}

static void check_namespace(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->pid_namespace) {
		doctor_line_set(line, DOCTOR_OK, "the process ids are the kernel's");
		return;
	}
	doctor_line_set(
		line, DOCTOR_LIMITED,
		"this container has separate process ids: neither the module nor eBPF can be "
		"used; run pfdrive outside it");
	if (facts->container)
		doctor_line_fix_container(line, "--pid=host");
}

static void check_debugfs(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->debugfs) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"not mounted: fault_around_bytes cannot be read or changed, and the module is "
			"reached only by /dev/pfstat");
		if (facts->container)
			doctor_line_fix_container(line, "-v /sys/kernel/debug:/sys/kernel/debug");
		else
			doctor_line_fix_as_root(line, facts,
						"mount -t debugfs none /sys/kernel/debug");
	} else if (!facts->debugfs_readable) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"mounted, but this user cannot read it: fault_around_bytes is not known, and "
			"the module is reached only by /dev/pfstat");
		snprintf(line->fix, sizeof(line->fix), "sudo pfdrive doctor");
	} else {
		doctor_line_set(line, DOCTOR_OK, "mounted and readable");
	}
}

static void check_cgroup(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->cgroup2 && facts->cgroup2_memory) {
		doctor_line_set(line, DOCTOR_OK, "mounted, with the memory controller");
	} else if (facts->cgroup2) {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"mounted without the memory controller: --memory-limit does not work; boot "
			"without cgroup_disable=memory");
	} else {
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"not mounted at /sys/fs/cgroup: --memory-limit and --cgroup do not work; "
			"boot with systemd.unified_cgroup_hierarchy=1, or mount it there");
		doctor_line_fix_as_root(line, facts, "mount -t cgroup2 none /sys/fs/cgroup");
	}
}

static void check_swap(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->swap) {
		doctor_line_set(line, DOCTOR_OK, "active: anonymous memory can be evicted");
		return;
	}
	doctor_line_set(
		line, DOCTOR_LIMITED,
		"none: the kernel cannot evict anonymous memory, so pressure meets only files");
	doctor_line_fix_as_root(
		line, facts,
		"sh -c 'dd if=/dev/zero of=/swapfile bs=1M count=1024 && chmod 600 /swapfile "
		"&& mkswap /swapfile && swapon /swapfile'");
}

static void check_page_size(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (page_size_is_one(facts->page_size))
		doctor_line_set(line, DOCTOR_OK, "%" PRIu64 " bytes", facts->page_size);
	else
		doctor_line_set(line, DOCTOR_MISSING,
				"%" PRIu64
				" bytes: pfstat works only with 4096- to 65536-byte pages",
				facts->page_size);
}

static bool is_in(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words))
		words++;
	return *words;
}

static void check_path(const struct doctor_facts *facts, struct doctor_line *line)
{
	static const char *const hooked[] = { "ext4", "xfs", "overlay", NULL },
				 *const foreign[] = { "btrfs", "nfs", "nfs4", NULL },
				 *const refused[] = { "tmpfs", "ramfs", "hugetlbfs", NULL };
	const char *path = facts->path, *type = facts->filesystem;

	if (!path[0])
		return;
	if (facts->path_error)
		doctor_line_set(line, DOCTOR_MISSING, "cannot find '%.300s': %s", path,
				strerror(-facts->path_error));
	else if (doctor_source_of(facts) == DOCTOR_SOURCE_PERF)
		doctor_line_set(line, DOCTOR_OK,
				"'%.300s' is on %s: perf samples faults on all file systems", path,
				type[0] ? type : "an unknown file system");
	else if (is_in(type, refused))
		doctor_line_set(
			line, DOCTOR_MISSING,
			"'%.300s' is on %s, which has no disk: the module refuses its files; choose "
			"a path on a disk",
			path, type);
	else if (is_in(type, foreign))
		doctor_line_set(
			line, DOCTOR_LIMITED,
			"'%.300s' is on %s: waits that match no block request (compressed data, a "
			"server) are reported as foreign",
			path, type);
	else if (is_in(type, hooked))
		doctor_line_set(line, DOCTOR_OK, "'%.300s' is on %s%s%s: all calls are recorded",
				path, type, facts->device[0] ? ", device " : "", facts->device);
	else
		doctor_line_set(line, DOCTOR_LIMITED,
				"'%.300s' is on %s, which pfstat was not tested on", path,
				type[0] ? type : "an unknown file system");
}

static void check_symbols(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->kallsyms)
		doctor_line_set(
			line, doctor_line_without_source(facts),
			"this kernel was built without CONFIG_KALLSYMS, so no probe can be set; use "
			"another kernel");
	else if (facts->kptr_restrict > 0 && facts->kptr_restrict != INT_MAX)
		doctor_line_set(
			line, DOCTOR_OK,
			"the kernel has them; kptr_restrict %d hides their addresses, which pfstat "
			"does not read",
			facts->kptr_restrict);
	else
		doctor_line_set(line, DOCTOR_OK, "the kernel has them");
}

static void check_clock(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!strcmp(facts->clocksource, "tsc") || !strcmp(facts->clocksource, "arch_sys_counter")) {
		doctor_line_set(line, DOCTOR_OK, "%s, which the module reads without a call",
				facts->clocksource);
		return;
	}
	doctor_line_set(
		line, DOCTOR_LIMITED,
		"%s: the module calls the kernel to read it, which makes each record dearer "
		"(Documentation/user/overhead.rst)%s",
		facts->clocksource[0] ? facts->clocksource : "not known",
		facts->tsc_available ? "" : "; this machine offers no tsc");
	if (facts->tsc_available)
		doctor_line_fix_as_root(
			line, facts,
			"sh -c 'echo tsc >/sys/devices/system/clocksource/clocksource0/"
			"current_clocksource'");
}

const struct doctor_check doctor_checks[] = {
	{ "kernel", check_kernel },
	{ "headers", check_headers },
	{ "module", source_check_module },
	{ "all faults", source_check_all_faults },
	{ "lockdown", check_lockdown },
	{ "secure boot", check_secure_boot },
	{ "capabilities", check_capabilities },
	{ "debugfs", check_debugfs },
	{ "eBPF", source_check_bpf },
	{ "bpffs", source_check_bpffs },
	{ "namespace", check_namespace },
	{ "perf", source_check_perf },
	{ "symbols", check_symbols },
	{ "cgroup v2", check_cgroup },
	{ "swap", check_swap },
	{ "page size", check_page_size },
	{ "clock", check_clock },
	{ "path", check_path },
};

const size_t nr_doctor_checks = ARRAY_SIZE(doctor_checks);

void doctor_check_run(const struct doctor_check *check, const struct doctor_facts *facts,
		      struct doctor_line *line)
{
	*line = (struct doctor_line){ 0 };
	check->check(facts, line);
}
