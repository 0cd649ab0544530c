// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges the facts about a machine: each check is a pure function that writes one line, with its
 * meaning for pfstat and the command that changes it. Only a line in state missing prevents a
 * measurement.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor_checks.h"
#include "doctor/doctor_sources.h"
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

/* The state of a line about something that a fault source needs. */
static enum doctor_state without_source(const struct doctor_facts *facts)
{
	return doctor_source_of(facts) == DOCTOR_SOURCE_NONE ? DOCTOR_MISSING : DOCTOR_LIMITED;
}

/* What pfdrive uses if it cannot use the module. */
static const char *instead(const struct doctor_facts *facts)
{
	if (doctor_bpf_works(facts))
		return "; pfdrive uses eBPF instead";
	return doctor_perf_access(facts) ? "; pfdrive uses perf instead" : "";
}

static const char *instead_or_other(const struct doctor_facts *facts)
{
	const char *other = instead(facts);

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
		state(line, without_source(facts),
		      "%s: the module and eBPF are for x86-64 and arm64 only%s",
		      facts->architecture, instead(facts));
	else if (number < kernel_release_number(OLDEST_BPF_KERNEL))
		state(line, without_source(facts),
		      "Linux %s is older than %s, the oldest for eBPF; use a newer kernel, or the "
		      "lab (tools/lab shell)%s",
		      release, OLDEST_BPF_KERNEL, instead(facts));
	else if (doctor_is_too_old_for_module(facts))
		state(line, without_source(facts),
		      "Linux %s is older than %s, so the module cannot be built%s", release,
		      OLDEST_KERNEL, instead(facts));
	else if (option_that_lacks(facts))
		state(line, without_source(facts),
		      "Linux %s was built without %s, which the module needs%s", release,
		      option_that_lacks(facts), instead_or_other(facts));
	else if (facts->options[CONFIG_PREEMPT_RT] == OPTION_ON)
		state(line, without_source(facts),
		      "Linux %s has PREEMPT_RT, for which the module cannot be built%s", release,
		      instead_or_other(facts));
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
	if (doctor_is_too_old_for_module(facts)) {
		state(line, DOCTOR_OK, "not needed: the module is not for this kernel");
	} else if (facts->headers) {
		state(line, DOCTOR_OK, "installed for this kernel: the module can be built");
	} else if (facts->loaded || facts->installed[0] ||
		   !strcmp(facts->built_for, facts->release)) {
		state(line, DOCTOR_LIMITED,
		      "not installed for this kernel; a module exists, but it cannot be built again");
		fix_headers(facts, line);
	} else {
		state(line, without_source(facts),
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

static void check_bpf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct doctor_tries *tries = &facts->tries;
	const char *obstacle = doctor_bpf_obstacle(facts);

	if (facts->without_bpf)
		state(line, without_source(facts),
		      "this pfdrive was built without eBPF (BPF=no), so a report has no parts; "
		      "build it with BPF=yes");
	else if (!facts->btf)
		state(line, without_source(facts),
		      "this kernel was built without CONFIG_DEBUG_INFO_BTF, so a report has no "
		      "parts; use another kernel");
	else if (!tries->made && obstacle)
		state(line, without_source(facts), "not tried: %s", obstacle);
	else if (!tries->made)
		state(line, DOCTOR_OK, "not tried; the kernel has BTF, which the programs need");
	else if (tries->bpf.err)
		state(line, without_source(facts), "%s%s%s", tries->bpf.why,
		      obstacle && !facts->root ? "; root cannot either: " : "",
		      obstacle && !facts->root ? obstacle : "");
	else
		state(line, DOCTOR_OK, "tried: the programs can be loaded");
}

static void check_bpffs(const struct doctor_facts *facts, struct doctor_line *line)
{
	if (facts->bpffs) {
		state(line, DOCTOR_OK, "mounted: the eBPF maps can be pinned");
		return;
	}
	state(line, without_source(facts),
	      "not mounted: pfdrive cannot use eBPF, so a report has no parts");
	if (facts->container)
		fix_container(line, "-v /sys/fs/bpf:/sys/fs/bpf");
	else
		fix_as_root(line, facts, "mount -t bpf -o mode=700 bpf /sys/fs/bpf");
}

static void check_loaded_module(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct doctor_attempt *attempt = &facts->tries.module;

	if (!strcmp(facts->loaded_version, PFDRIVE_VERSION)) {
		if (attempt->err)
			state(line, without_source(facts), "loaded, version %s, but %s",
			      facts->loaded_version, attempt->why);
		else
			state(line, DOCTOR_OK, "loaded, version %s%s", facts->loaded_version,
			      facts->tries.made ? "; tried: this user can open it" : "");
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
		state(line, without_source(facts), "cannot be built for PREEMPT_RT%s",
		      instead(facts));
	} else if (doctor_is_too_old_for_module(facts)) {
		state(line, without_source(facts), "not for this kernel%s", instead(facts));
	} else if (built) {
		state(line, without_source(facts), "built for this kernel%s, but not loaded%s",
		      facts->built_signed ? " and signed" : "", instead(facts));
		fix_as_root(line, facts, "insmod %s", facts->built);
	} else if (facts->installed[0]) {
		state(line, without_source(facts), "installed (%s), but not loaded%s",
		      facts->installed, instead(facts));
		fix_as_root(line, facts, "modprobe pfstat");
	} else if (facts->built[0]) {
		state(line, without_source(facts),
		      "%s is for Linux %s, which is not running; build it again in the source "
		      "tree%s",
		      facts->built, facts->built_for[0] ? facts->built_for : "(unknown)",
		      instead(facts));
		snprintf(line->fix, sizeof(line->fix), "make module");
	} else {
		state(line, without_source(facts),
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
	if (doctor_source_of(facts) == DOCTOR_SOURCE_PERF) {
		state(line, DOCTOR_OK, "perf samples them, except those of get_user_pages()");
	} else if (doctor_is_too_old_for_module(facts) && !facts->loaded) {
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
		state(line, without_source(facts),
		      "this process is in a user namespace, where no capability counts; run "
		      "pfdrive outside of it, as root");
	} else if (!facts->root && lacks & CAPABILITY(CAP_PERFMON)) {
		state(line, without_source(facts),
		      "the module and eBPF are for root, or for a process with CAP_PERFMON and "
		      "CAP_BPF");
		snprintf(line->fix, sizeof(line->fix), "sudo pfdrive doctor");
	} else if (lacks & CAPABILITY(CAP_PERFMON)) {
		state(line, without_source(facts), "lacks %s; the module requires CAP_PERFMON",
		      names);
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
	      "this container has process ids of its own: neither the module nor eBPF can be "
	      "used; run pfdrive outside of it");
	if (facts->container)
		fix_container(line, "--pid=host");
}

/* Mappings are read by perf too, for all sources. */
static void check_tried_perf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const struct perf_trial *trial = &facts->tries.perf;
	const bool refused = trial->err == -EACCES;
	char reason[PERF_ACCESS_TEXT_SIZE];

	perf_access_reason(trial, reason, sizeof(reason));
	if (trial->access == PERF_ACCESS_ALL) {
		state(line, DOCTOR_OK,
		      "tried: this user can sample all faults (kernel.perf_event_paranoid is %d)",
		      trial->paranoid);
	} else if (trial->access == PERF_ACCESS_USER) {
		state(line, DOCTOR_LIMITED,
		      "tried: this user can sample the faults of its own processes, except those "
		      "in system calls: %s",
		      reason);
		if (refused)
			fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=1");
	} else {
		state(line, without_source(facts),
		      "tried: this user can sample no faults, and mappings are not recorded: %s",
		      reason);
		if (refused && trial->paranoid > 2)
			fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=2");
		else if (trial->filtered && facts->container)
			fix_container(line, "--security-opt seccomp=unconfined");
	}
}

static void check_perf(const struct doctor_facts *facts, struct doctor_line *line)
{
	const int paranoid = facts->perf_event_paranoid;

	if (facts->tries.made) {
		check_tried_perf(facts, line);
	} else if (paranoid == INT_MAX) {
		state(line, without_source(facts),
		      "this kernel has no perf_event_open(2): mappings are not recorded");
	} else if (!doctor_perf_access(facts)) {
		state(line, without_source(facts),
		      "%d: Debian's kernels then demand CAP_SYS_ADMIN to record faults and "
		      "mappings",
		      paranoid);
		fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=2");
	} else if (doctor_perf_access(facts) == PERF_ACCESS_USER) {
		state(line, DOCTOR_LIMITED, "%d: this user can sample no faults in system calls",
		      paranoid);
		fix_as_root(line, facts, "sysctl kernel.perf_event_paranoid=1");
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
	else if (doctor_source_of(facts) == DOCTOR_SOURCE_PERF)
		state(line, DOCTOR_OK,
		      "'%.300s' is on %s: perf samples the faults of all file systems", path,
		      type[0] ? type : "an unknown file system");
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
		state(line, without_source(facts),
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
	{ "eBPF", check_bpf },
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
