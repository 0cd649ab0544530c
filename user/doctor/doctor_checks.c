// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges the facts about a machine: each check is a pure function that writes one line, with its
 * meaning for pfstat and the command that changes it. Only a line in state missing prevents a
 * measurement.
 */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor_checks.h"
#include "privilege/capabilities.h"
#include "util/array.h"
#include "util/kernel_release.h"
#include "util/page_size.h"
#include "util/version.h"

#define MESSAGE_FORMAT(text) __attribute__((format(printf, text, text + 1)))

static MESSAGE_FORMAT(3) void state(struct doctor_line *line, enum doctor_state value,
				    const char *format, ...)
{
	va_list arguments;

	line->state = value;
	va_start(arguments, format);
	vsnprintf(line->text, sizeof(line->text), format, arguments);
	va_end(arguments);
}

/*
 * Commands that change the system need sudo, if this process is not root's. Root in a container may
 * not change it.
 */
static MESSAGE_FORMAT(3) void fix_as_root(struct doctor_line *line,
					  const struct doctor_facts *facts, const char *format, ...)
{
	const size_t size = sizeof(line->fix);
	int used = snprintf(line->fix, size, "%s", facts->root ? "" : "sudo ");
	va_list arguments;

	va_start(arguments, format);
	used += vsnprintf(line->fix + used, size - used, format, arguments);
	va_end(arguments);
	if (facts->container && (size_t)used < size)
		snprintf(line->fix + used, size - used, " (on the host)");
}

/* @option: of podman run and docker run, by which the container has it. */
static void fix_container(struct doctor_line *line, const char *option)
{
	snprintf(line->fix, sizeof(line->fix), "the container with %s", option);
}

/* The module is not written for older kernels. */
static bool is_too_old_for_module(const struct doctor_facts *facts)
{
	return kernel_release_number(facts->release) < kernel_release_number(OLDEST_KERNEL);
}

/* True if pfdrive measures without the module: see user/collect/fault_source_bpf.c. */
static bool bpf_is_enough(const struct doctor_facts *facts)
{
	return !facts->without_bpf && facts->btf && facts->bpffs && !facts->pid_namespace &&
	       strcmp(facts->lockdown, "confidentiality") &&
	       kernel_release_number(facts->release) >= kernel_release_number(OLDEST_BPF_KERNEL);
}

/* The state of a line about the module, which works no more, or not yet. */
static enum doctor_state without_module(const struct doctor_facts *facts)
{
	return bpf_is_enough(facts) ? DOCTOR_LIMITED : DOCTOR_MISSING;
}

static const char *instead(const struct doctor_facts *facts)
{
	return bpf_is_enough(facts) ? "; pfdrive uses eBPF instead" : "";
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
		state(line, DOCTOR_MISSING, "%s: the module and eBPF are for x86-64 and arm64 only",
		      facts->architecture);
	else if (number < kernel_release_number(OLDEST_BPF_KERNEL))
		state(line, DOCTOR_MISSING,
		      "Linux %s is older than %s; use a newer kernel, or the lab (tools/lab shell)",
		      release, OLDEST_BPF_KERNEL);
	else if (is_too_old_for_module(facts))
		state(line, without_module(facts),
		      "Linux %s is older than %s, so the module cannot be built%s", release,
		      OLDEST_KERNEL, instead(facts));
	else if (option_that_lacks(facts))
		state(line, DOCTOR_MISSING,
		      "Linux %s was built without %s, which the module needs; use another kernel",
		      release, option_that_lacks(facts));
	else if (facts->options[CONFIG_PREEMPT_RT] == OPTION_ON)
		state(line, without_module(facts),
		      "Linux %s has PREEMPT_RT, for which the module cannot be built%s", release,
		      bpf_is_enough(facts) ? instead(facts) : "; use another kernel");
	else if (number > kernel_release_number(NEWEST_KERNEL))
		state(line, DOCTOR_LIMITED,
		      "Linux %s is newer than %s, the newest that pfstat was tested on; the module "
		      "tests itself when it is loaded",
		      release, NEWEST_KERNEL);
	else
		state(line, DOCTOR_OK, "Linux %s, within the tested range of %s to %s", release,
		      OLDEST_KERNEL, NEWEST_KERNEL);
}

/* The part of a release behind its last dash: "lts" of "6.12.1-1-lts"; "" if it is a number. */
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
		fix_as_root(line, facts, "apt install linux-headers-%s", release);
		break;
	case MANAGER_DNF:
		fix_as_root(line, facts, "dnf install kernel-devel-%s", release);
		break;
	case MANAGER_PACMAN: /* Arch's own kernel is 6.12.1-arch1-1. */
		fix_as_root(line, facts, "pacman -S linux-%s%sheaders", kind, kind[0] ? "-" : "");
		break;
	case MANAGER_ZYPPER:
		fix_as_root(line, facts, "zypper install kernel-%s-devel",
			    kind[0] ? kind : "default");
		break;
	case MANAGER_UNKNOWN:
		break;
	}
}

static void check_headers(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (is_too_old_for_module(facts)) {
		state(line, DOCTOR_OK, "not needed: the module is not for this kernel");
	} else if (facts->headers) {
		state(line, DOCTOR_OK, "installed for this kernel: the module can be built");
	} else if (facts->loaded || facts->installed[0] ||
		   !strcmp(facts->built_for, facts->release)) {
		state(line, DOCTOR_LIMITED,
		      "not installed for this kernel; a module exists, but it cannot be built again");
		fix_headers(facts, line);
	} else {
		state(line, without_module(facts),
		      "not installed for this kernel, so the module cannot be built");
		fix_headers(facts, line);
	}
}

static void check_lockdown(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->lockdown[0] && !facts->can_lock_down) {
		state(line, DOCTOR_OK, "this kernel has no lockdown");
	} else if (!facts->lockdown[0]) {
		state(line, DOCTOR_LIMITED,
		      "/sys/kernel/security/lockdown cannot be read, so the level is not known");
		if (facts->container)
			fix_container(line, "-v /sys/kernel/security:/sys/kernel/security:ro");
		else
			fix_as_root(line, facts, "mount -t securityfs none /sys/kernel/security");
	} else if (!strcmp(facts->lockdown, "none")) {
		state(line, DOCTOR_OK, "none");
	} else {
		state(line, DOCTOR_LIMITED, "%s: the module must be signed%s", facts->lockdown,
		      strcmp(facts->lockdown, "confidentiality") ?
			      "" :
			      "; eBPF cannot read the kernel's memory, so use --no-bpf");
	}
}

static void check_secure_boot(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->secure_boot == SECURE_BOOT_UNKNOWN && facts->container) {
		state(line, DOCTOR_LIMITED,
		      "this container does not see the firmware, so it is not known; run pfdrive "
		      "doctor on the host");
	} else if (facts->secure_boot == SECURE_BOOT_UNKNOWN) {
		state(line, DOCTOR_LIMITED,
		      "the firmware's variables cannot be read, so it is not "
		      "known");
		fix_as_root(line, facts, "mount -t efivarfs none /sys/firmware/efi/efivars");
	} else if (facts->secure_boot == SECURE_BOOT_OFF && !facts->must_be_signed) {
		state(line, DOCTOR_OK, "off: an unsigned module can be loaded");
	} else if (!facts->machine_keys) {
		state(line, DOCTOR_LIMITED,
		      "%s; no key of the machine's owner is visible to this user. A module needs a "
		      "signature; see Documentation/user/security.rst",
		      facts->must_be_signed ? "the kernel refuses unsigned modules" : "on");
		fix_as_root(line, facts, "mokutil --import MOK.der");
	} else {
		state(line, DOCTOR_LIMITED,
		      "%s; %u keys of the machine's owner are enrolled. The module needs a "
		      "signature with one of them; see Documentation/user/security.rst",
		      facts->must_be_signed ? "the kernel refuses unsigned modules" : "on",
		      facts->machine_keys);
	}
}

static void check_btf(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->without_bpf)
		state(line, DOCTOR_LIMITED,
		      "this pfdrive was built without eBPF (BPF=no): only --no-bpf works, so a "
		      "report has no parts; build it with BPF=yes");
	else if (facts->btf)
		state(line, DOCTOR_OK, "the eBPF programs can be loaded");
	else
		state(line, DOCTOR_LIMITED,
		      "this kernel was built without CONFIG_DEBUG_INFO_BTF: only --no-bpf works, so "
		      "a report has no parts; use another kernel");
}

static void check_bpffs(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->bpffs) {
		state(line, DOCTOR_OK, "mounted: the eBPF maps can be pinned");
		return;
	}
	state(line, DOCTOR_LIMITED, "not mounted: only --no-bpf works, so a report has no parts");
	if (facts->container)
		fix_container(line, "-v /sys/fs/bpf:/sys/fs/bpf");
	else
		fix_as_root(line, facts, "mount -t bpf -o mode=700 bpf /sys/fs/bpf");
}

static void check_loaded_module(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!strcmp(facts->loaded_version, PFDRIVE_VERSION)) {
		state(line, DOCTOR_OK, "loaded, version %s", facts->loaded_version);
		return;
	}
	state(line, DOCTOR_LIMITED, "version %s is loaded, but pfdrive is %s; load the same one",
	      facts->loaded_version[0] ? facts->loaded_version : "(unknown)", PFDRIVE_VERSION);
	fix_as_root(line, facts, "rmmod pfstat");
}

static void check_module(const struct doctor_facts *facts, struct doctor_line *line)
{
	const bool built = facts->built[0] && !strcmp(facts->built_for, facts->release);

	if (facts->loaded) {
		check_loaded_module(facts, line);
	} else if (facts->options[CONFIG_PREEMPT_RT] == OPTION_ON) {
		state(line, without_module(facts), "cannot be built for PREEMPT_RT%s",
		      instead(facts));
	} else if (is_too_old_for_module(facts)) {
		state(line, without_module(facts), "not for this kernel%s", instead(facts));
	} else if (built) {
		state(line, without_module(facts), "built for this kernel%s, but not loaded%s",
		      facts->built_signed ? " and signed" : "", instead(facts));
		fix_as_root(line, facts, "insmod %s", facts->built);
	} else if (facts->installed[0]) {
		state(line, without_module(facts), "installed (%s), but not loaded%s",
		      facts->installed, instead(facts));
		fix_as_root(line, facts, "modprobe pfstat");
	} else if (facts->built[0]) {
		state(line, without_module(facts),
		      "%s is for Linux %s, which is not running; build it again in the source "
		      "tree%s",
		      facts->built, facts->built_for[0] ? facts->built_for : "(unknown)",
		      instead(facts));
		snprintf(line->fix, sizeof(line->fix), "make module");
	} else {
		state(line, without_module(facts),
		      "neither loaded, nor installed for this kernel, nor built beside pfdrive; "
		      "build it in the source tree%s",
		      instead(facts));
		snprintf(line->fix, sizeof(line->fix),
			 "make && sudo make install && sudo modprobe "
			 "pfstat");
	}
}

/* Other tools may take the function, so the module may still not get it. */
static void check_all_faults(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (is_too_old_for_module(facts) && !facts->loaded) {
		state(line, DOCTOR_OK, "eBPF counts them");
	} else if (strcmp(facts->architecture, "x86_64")) {
		state(line, DOCTOR_LIMITED,
		      "eBPF counts them: the module can take handle_mm_fault() on x86-64 only");
	} else if (!strcmp(facts->hold_faults, "N")) {
		state(line, DOCTOR_LIMITED,
		      "eBPF counts them, which costs more: the module's parameter hold_faults is "
		      "off");
		fix_as_root(line, facts,
			    "sh -c 'echo Y >/sys/module/pfstat/parameters/hold_faults'");
	} else if (facts->loaded && !facts->hold_faults[0]) {
		state(line, DOCTOR_LIMITED,
		      "eBPF counts them, which costs more: the loaded module is older than "
		      "pfdrive");
	} else {
		state(line, DOCTOR_OK,
		      "a loaded module counts them, unless another tool has handle_mm_fault()");
	}
}

/* Those of @wanted that the process lacks; CAP_SYS_ADMIN implies two others, as in the kernel. */
static uint64_t lacking(const struct doctor_facts *facts, uint64_t wanted)
{
	uint64_t have = facts->capabilities;

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	return wanted & ~have;
}

static void check_capabilities(const struct doctor_facts *facts, struct doctor_line *line)
{
	const uint64_t lacks =
		lacking(facts, CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_BPF) |
				       CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_SETUID) |
				       CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_DAC_READ_SEARCH));
	char names[CAPABILITY_NAMES_SIZE];

	capabilities_name(lacks, names, sizeof(names));
	if (facts->user_namespace) {
		state(line, DOCTOR_MISSING,
		      "this process is in a user namespace, where no capability counts; run "
		      "pfdrive outside of it, as root");
	} else if (!facts->root && lacks & CAPABILITY(CAP_PERFMON)) {
		state(line, DOCTOR_MISSING,
		      "only root, or a process with CAP_PERFMON, can measure; report and compare "
		      "work");
		snprintf(line->fix, sizeof(line->fix), "sudo pfdrive doctor");
	} else if (lacks & CAPABILITY(CAP_PERFMON)) {
		state(line, DOCTOR_MISSING, "lacks %s; the module requires CAP_PERFMON", names);
		if (facts->container)
			fix_container(line, "--cap-add=PERFMON --cap-add=BPF");
	} else if (lacks) {
		state(line, DOCTOR_LIMITED, "lacks %s; see Documentation/user/security.rst", names);
	} else {
		state(line, DOCTOR_OK, "all that the commands need");
	}
}

static void check_namespace(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->pid_namespace) {
		state(line, DOCTOR_OK, "the process ids are those of the kernel");
		return;
	}
	state(line, DOCTOR_LIMITED,
	      "this container has process ids of its own: only --no-bpf works; run pfdrive "
	      "outside of it");
	if (facts->container)
		fix_container(line, "--pid=host");
}

static void check_perf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const int paranoid = facts->perf_event_paranoid;

	if (paranoid == INT_MAX) {
		state(line, DOCTOR_LIMITED,
		      "this kernel has no perf_event_open(2): mappings are not recorded");
	} else if (paranoid > 2 && lacking(facts, CAPABILITY(CAP_SYS_ADMIN))) {
		state(line, DOCTOR_LIMITED,
		      "%d: Debian's kernels then demand CAP_SYS_ADMIN to record mappings",
		      paranoid);
		fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=2");
	} else {
		state(line, DOCTOR_OK, "%d, which does not restrict this user", paranoid);
	}
}

static void check_debugfs(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->debugfs) {
		state(line, DOCTOR_LIMITED,
		      "not mounted: fault_around_bytes cannot be read or changed, and the module is "
		      "reached only by /dev/pfstat");
		if (facts->container)
			fix_container(line, "-v /sys/kernel/debug:/sys/kernel/debug");
		else
			fix_as_root(line, facts, "mount -t debugfs none /sys/kernel/debug");
	} else if (!facts->debugfs_readable) {
		state(line, DOCTOR_LIMITED,
		      "mounted, but this user cannot read it: fault_around_bytes is not known, and "
		      "the module is reached only by /dev/pfstat");
		snprintf(line->fix, sizeof(line->fix), "sudo pfdrive doctor");
	} else {
		state(line, DOCTOR_OK, "mounted and readable");
	}
}

static void check_cgroup(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->cgroup2 && facts->cgroup2_memory) {
		state(line, DOCTOR_OK, "mounted, with the memory controller");
	} else if (facts->cgroup2) {
		state(line, DOCTOR_LIMITED,
		      "mounted without the memory controller: --memory-limit does not work; boot "
		      "without cgroup_disable=memory");
	} else {
		state(line, DOCTOR_LIMITED,
		      "not mounted at /sys/fs/cgroup: --memory-limit and --cgroup do not work; "
		      "boot with systemd.unified_cgroup_hierarchy=1, or mount it there");
		fix_as_root(line, facts, "mount -t cgroup2 none /sys/fs/cgroup");
	}
}

static void check_swap(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->swap) {
		state(line, DOCTOR_OK, "active: anonymous memory can be evicted");
		return;
	}
	state(line, DOCTOR_LIMITED,
	      "none: the kernel cannot evict anonymous memory, so pressure meets only files");
	fix_as_root(line, facts,
		    "sh -c 'dd if=/dev/zero of=/swapfile bs=1M count=1024 && chmod 600 /swapfile "
		    "&& mkswap /swapfile && swapon /swapfile'");
}

static void check_page_size(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (page_size_is_one(facts->page_size))
		state(line, DOCTOR_OK, "%" PRIu64 " bytes", facts->page_size);
	else
		state(line, DOCTOR_MISSING,
		      "%" PRIu64 " bytes: pfstat works with pages of 4096 to 65536 bytes only",
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
		state(line, DOCTOR_MISSING, "cannot find '%.300s': %s", path,
		      strerror(-facts->path_error));
	else if (is_in(type, refused))
		state(line, DOCTOR_MISSING,
		      "'%.300s' is on %s, which has no disk: the module refuses its files; choose "
		      "a path on a disk",
		      path, type);
	else if (is_in(type, foreign))
		state(line, DOCTOR_LIMITED,
		      "'%.300s' is on %s: waits that match no block request (compressed data, a "
		      "server) are reported as foreign",
		      path, type);
	else if (is_in(type, hooked))
		state(line, DOCTOR_OK, "'%.300s' is on %s%s%s: all calls are recorded", path, type,
		      facts->device[0] ? ", device " : "", facts->device);
	else
		state(line, DOCTOR_LIMITED, "'%.300s' is on %s, which pfstat was not tested on",
		      path, type[0] ? type : "an unknown file system");
}

static void check_symbols(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!facts->kallsyms)
		state(line, DOCTOR_MISSING,
		      "this kernel was built without CONFIG_KALLSYMS, so no probe can be set; use "
		      "another kernel");
	else if (facts->kptr_restrict > 0 && facts->kptr_restrict != INT_MAX)
		state(line, DOCTOR_OK,
		      "the kernel has them; kptr_restrict %d hides their addresses, which pfstat "
		      "does not read",
		      facts->kptr_restrict);
	else
		state(line, DOCTOR_OK, "the kernel has them");
}

static void check_clock(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (!strcmp(facts->clocksource, "tsc") || !strcmp(facts->clocksource, "arch_sys_counter")) {
		state(line, DOCTOR_OK, "%s, which the module reads without a call",
		      facts->clocksource);
		return;
	}
	state(line, DOCTOR_LIMITED,
	      "%s: the module calls the kernel to read it, which makes each record dearer "
	      "(Documentation/user/overhead.rst)%s",
	      facts->clocksource[0] ? facts->clocksource : "not known",
	      facts->tsc_available ? "" : "; this machine offers no tsc");
	if (facts->tsc_available)
		fix_as_root(line, facts,
			    "sh -c 'echo tsc >/sys/devices/system/clocksource/clocksource0/"
			    "current_clocksource'");
}

const struct doctor_check doctor_checks[] = {
	{ "kernel", check_kernel },
	{ "headers", check_headers },
	{ "module", check_module },
	{ "all faults", check_all_faults },
	{ "lockdown", check_lockdown },
	{ "secure boot", check_secure_boot },
	{ "capabilities", check_capabilities },
	{ "debugfs", check_debugfs },
	{ "BTF", check_btf },
	{ "bpffs", check_bpffs },
	{ "namespace", check_namespace },
	{ "perf", check_perf },
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
