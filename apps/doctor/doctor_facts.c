// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the facts about a machine from /proc, /sys, /etc, /boot and /lib/modules, below a root
 * folder that tests replace. This file judges nothing: doctor_checks.c does. If a file cannot be
 * read, the fact stays at "not available".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "doctor/doctor.h"
#include "model/environment.h"
#include "privilege/privilege.h"
#include "system/machine.h"
#include "util/array.h"
#include "util/input_file.h"
#include "util/page_size.h"

#define NS_INITIAL_USER "user:[4026531837]" /* PROC_USER_INIT_INO */
#define NS_INITIAL_PID	"pid:[4026531836]"  /* PROC_PID_INIT_INO */
#define SECURE_BOOT	"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SIGNED_END	"~Module signature appended~\n"

const char *const kernel_option_names[NR_KERNEL_OPTIONS] = {
	[CONFIG_KPROBES] = "CONFIG_KPROBES",
	[CONFIG_KRETPROBES] = "CONFIG_KRETPROBES",
	[CONFIG_TRACEPOINTS] = "CONFIG_TRACEPOINTS",
	[CONFIG_DEBUG_FS] = "CONFIG_DEBUG_FS",
	[CONFIG_PREEMPT_RT] = "CONFIG_PREEMPT_RT",
	[CONFIG_BPF_SYSCALL] = "CONFIG_BPF_SYSCALL",
	[CONFIG_DEBUG_INFO_BTF] = "CONFIG_DEBUG_INFO_BTF",
	[CONFIG_FUNCTION_TRACER] = "CONFIG_FUNCTION_TRACER",
	[CONFIG_LRU_GEN] = "CONFIG_LRU_GEN",
	[CONFIG_MEMCG] = "CONFIG_MEMCG",
	[CONFIG_MODULE_SIG_FORCE] = "CONFIG_MODULE_SIG_FORCE",
	[CONFIG_PER_VMA_LOCK] = "CONFIG_PER_VMA_LOCK",
	[CONFIG_PREEMPT_DYNAMIC] = "CONFIG_PREEMPT_DYNAMIC",
	[CONFIG_SECURITY_LOCKDOWN_LSM] = "CONFIG_SECURITY_LOCKDOWN_LSM",
	[CONFIG_TRANSPARENT_HUGEPAGE] = "CONFIG_TRANSPARENT_HUGEPAGE",
};

static const char *below(const char *root, const char *path)
{
	static char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

static bool exists(const char *root, const char *path)
{
	return !access(below(root, path), F_OK);
}

/* Calls visit for each line, without its newline, until it returns false. */
static bool visit_lines(const char *root, const char *path,
			bool (*visit)(char *line, struct doctor_facts *facts),
			struct doctor_facts *facts)
{
	FILE *file = fopen(below(root, path), "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return false;
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!visit(line, facts))
			break;
	}
	free(line);
	fclose(file);
	return true;
}

static void first_line(const char *root, const char *path, char *line, size_t size)
{
	first_line_read(below(root, path), line, size);
}

static int number_in(const char *root, const char *path)
{
	char line[32];

	first_line(root, path, line, sizeof(line));
	return line[0] ? atoi(line) : INT_MAX;
}

/* ID=debian, ID_LIKE="rhel fedora": the first known word decides. */
static enum package_manager manager_of(const char *ids)
{
	static const struct {
		const char *id;
		enum package_manager manager;
	} known[] = {
		{ "debian", MANAGER_APT },  { "ubuntu", MANAGER_APT }, { "fedora", MANAGER_DNF },
		{ "rhel", MANAGER_DNF },    { "centos", MANAGER_DNF }, { "arch", MANAGER_PACMAN },
		{ "suse", MANAGER_ZYPPER },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (strstr(ids, known[i].id))
			return known[i].manager;
	return MANAGER_UNKNOWN;
}

static bool visit_os_release(char *line, struct doctor_facts *facts)
{
	static const char pretty[] = "PRETTY_NAME=";
	char *value = strchr(line, '=');

	if (!value)
		return true;
	value++;
	value += strspn(value, "\"'");
	value[strcspn(value, "\"'")] = '\0';
	if (!strncmp(line, pretty, strlen(pretty)))
		snprintf(facts->distribution, sizeof(facts->distribution), "%s", value);
	else if ((!strncmp(line, "ID=", 3) || !strncmp(line, "ID_LIKE=", 8)) && !facts->manager)
		facts->manager = manager_of(value);
	return true;
}

/* gzopen() also reads uncompressed files. */
static void read_options(struct doctor_facts *facts, const char *root)
{
	char path[PATH_MAX], line[1024], *value;
	gzFile file;
	size_t i;

	snprintf(path, sizeof(path), "/boot/config-%s", facts->release);
	file = gzopen(below(root, path), "re");
	if (!file) {
		snprintf(path, sizeof(path), "/lib/modules/%s/config", facts->release);
		file = gzopen(below(root, path), "re");
	}
	if (!file)
		file = gzopen(below(root, "/proc/config.gz"), "re");
	if (!file)
		return;
	for (i = 0; i < NR_KERNEL_OPTIONS; i++)
		facts->options[i] = OPTION_OFF;
	while (gzgets(file, line, sizeof(line))) {
		value = strchr(line, '=');
		if (!value || value[1] == 'n')
			continue;
		*value = '\0';
		for (i = 0; i < NR_KERNEL_OPTIONS; i++)
			if (!strcmp(line, kernel_option_names[i]))
				facts->options[i] = OPTION_ON;
	}
	gzclose(file);
}

static void read_kernel(struct doctor_facts *facts, const char *root)
{
	char path[PATH_MAX];
	struct utsname uts;

	first_line(root, "/proc/sys/kernel/osrelease", facts->release, sizeof(facts->release));
	if (!uname(&uts))
		snprintf(facts->architecture, sizeof(facts->architecture), "%.31s", uts.machine);
	read_options(facts, root);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", facts->release);
	facts->headers = exists(root, path);
	facts->btf = exists(root, "/sys/kernel/btf/vmlinux");
	facts->kallsyms = exists(root, "/proc/kallsyms");
	facts->kptr_restrict = number_in(root, "/proc/sys/kernel/kptr_restrict");
}

/* "1b3e…  I------  1 perm 1f0b0000 0 0 keyring .machine: 2" */
static bool visit_keys(char *line, struct doctor_facts *facts)
{
	const char *ring = strstr(line, " .machine: ");

	if (ring)
		facts->machine_keys = strtoul(ring + strlen(" .machine: "), NULL, 10);
	return !ring;
}

/* podman and docker put one of these files into each container. */
static void read_container(struct doctor_facts *facts, const char *root)
{
	facts->container = exists(root, "/run/.containerenv") || exists(root, "/.dockerenv");
}

/* An EFI variable's value follows four attribute bytes. Containers have an empty /sys/firmware. */
static void read_secure_boot(struct doctor_facts *facts, const char *root)
{
	unsigned char value[5];
	FILE *file;

	if (!exists(root, "/sys/firmware/efi")) {
		if (!facts->container)
			facts->secure_boot = SECURE_BOOT_OFF;
		return;
	}
	file = fopen(below(root, "/sys/firmware/efi/efivars/" SECURE_BOOT), "re");
	if (!file)
		return;
	if (fread(value, 1, sizeof(value), file) == sizeof(value))
		facts->secure_boot = value[4] ? SECURE_BOOT_ON : SECURE_BOOT_OFF;
	fclose(file);
}

static void read_lockdown(struct doctor_facts *facts, const char *root)
{
	char line[128];

	first_line(root, "/sys/kernel/security/lockdown", line, sizeof(line));
	if (!lockdown_parse(line, facts->lockdown, sizeof(facts->lockdown)))
		facts->lockdown[0] = '\0';
	/* A kernel without lockdown has a securityfs without the file. */
	facts->can_lock_down = facts->lockdown[0] ||
			       facts->options[CONFIG_SECURITY_LOCKDOWN_LSM] != OPTION_OFF;
	read_secure_boot(facts, root);
	visit_lines(root, "/proc/keys", visit_keys, facts);
	first_line(root, "/sys/module/module/parameters/sig_enforce", line, sizeof(line));
	facts->must_be_signed = line[0] == 'Y';
}

/* @text: the module, followed by a NUL. Section .modinfo has "vermagic=RELEASE …". */
static void parse_module(struct doctor_facts *facts, const char *text, size_t length)
{
	const char *magic = memmem(text, length, "vermagic=", strlen("vermagic="));
	const size_t end = strlen(SIGNED_END);

	if (magic)
		sscanf(magic, "vermagic=%127s", facts->built_for);
	facts->built_signed = length > end && !memcmp(text + length - end, SIGNED_END, end);
}

static void read_built_module(struct doctor_facts *facts, const char *root)
{
	char *text = NULL, *slash;
	struct stat status;
	ssize_t length;
	FILE *file;

	length = readlink(below(root, "/proc/self/exe"), facts->built, sizeof(facts->built) - 16);
	facts->built[length < 0 ? 0 : length] = '\0';
	slash = strrchr(facts->built, '/');
	if (slash)
		strcpy(slash + 1, "pfstat.ko");
	file = fopen(facts->built, "re");
	if (!file) {
		facts->built[0] = '\0';
		return;
	}
	if (!fstat(fileno(file), &status))
		text = calloc(1, status.st_size + 1);
	if (text)
		parse_module(facts, text, fread(text, 1, status.st_size, file));
	free(text);
	fclose(file);
}

/* Where make install, DKMS and packages put the module. */
static void read_installed_module(struct doctor_facts *facts, const char *root)
{
	static const char *const folders[] = { "updates", "updates/dkms", "extra", "weak-updates" };
	static const char *const ends[] = { "", ".xz", ".zst", ".gz" };
	char path[PATH_MAX];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(folders); i++)
		for (j = 0; j < ARRAY_SIZE(ends); j++) {
			snprintf(path, sizeof(path), "/lib/modules/%s/%s/pfstat.ko%s",
				 facts->release, folders[i], ends[j]);
			if (!facts->installed[0] && exists(root, path))
				strcpy(facts->installed, path);
		}
}

static bool visit_status(char *line, struct doctor_facts *facts)
{
	unsigned int real, effective;
	unsigned long long set;

	if (sscanf(line, "Uid: %u %u", &real, &effective) == 2)
		facts->root = !effective;
	if (sscanf(line, "CapEff: %llx", &set) == 1)
		facts->capabilities = set;
	return true;
}

static bool is_other_namespace(const char *root, const char *path, const char *initial)
{
	char name[64];
	ssize_t length = readlink(below(root, path), name, sizeof(name) - 1);

	if (length < 0)
		return false;
	name[length] = '\0';
	return strcmp(name, initial);
}

static bool visit_mounts(char *line, struct doctor_facts *facts)
{
	char place[PATH_MAX], type[64];

	if (sscanf(line, "%*s %4095s %63s", place, type) != 2)
		return true;
	facts->debugfs |= !strcmp(place, "/sys/kernel/debug") && !strcmp(type, "debugfs");
	facts->bpffs |= !strcmp(place, "/sys/fs/bpf") && !strcmp(type, "bpf");
	facts->cgroup2 |= !strcmp(place, "/sys/fs/cgroup") && !strcmp(type, "cgroup2");
	return true;
}

static bool visit_swaps(char *line, struct doctor_facts *facts)
{
	facts->swap |= line[0] == '/';
	return true;
}

static void read_memory(struct doctor_facts *facts, const char *root)
{
	char line[256];

	first_line(root, "/sys/fs/cgroup/cgroup.controllers", line, sizeof(line));
	facts->cgroup2_memory = strstr(line, "memory");
	visit_lines(root, "/proc/swaps", visit_swaps, facts);
	facts->page_size = page_size();
}

static void read_clock(struct doctor_facts *facts, const char *root)
{
#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
	char line[256];

	first_line(root, CLOCKS "current_clocksource", facts->clocksource,
		   sizeof(facts->clocksource));
	first_line(root, CLOCKS "available_clocksource", line, sizeof(line));
	facts->tsc_available = strstr(line, "tsc");
}

static void read_path(struct doctor_facts *facts, const char *path)
{
	struct environment *environment;
	struct stat status;
	int fd;

	snprintf(facts->path, sizeof(facts->path), "%s", path);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status)) {
		facts->path_error = -errno;
	} else {
		environment = calloc(1, sizeof(*environment));
		if (environment) {
			machine_state_read_file(environment, path, fd, status.st_dev);
			strcpy(facts->filesystem, environment->filesystem);
			strcpy(facts->device, environment->device);
		} else {
			facts->path_error = -ENOMEM;
		}
		free(environment);
	}
	if (fd >= 0)
		close(fd);
}

int doctor_facts_read(struct doctor_facts *facts, const char *root, const char *path)
{
	*facts = (struct doctor_facts){ 0 };
	if (!exists(root, "/proc/sys/kernel/osrelease"))
		return -errno;
	if (!visit_lines(root, "/etc/os-release", visit_os_release, facts))
		visit_lines(root, "/usr/lib/os-release", visit_os_release, facts);
	read_kernel(facts, root);
	read_container(facts, root);
	read_lockdown(facts, root);
	facts->loaded = exists(root, "/sys/module/pfstat");
	first_line(root, "/sys/module/pfstat/version", facts->loaded_version,
		   sizeof(facts->loaded_version));
	first_line(root, "/sys/module/pfstat/parameters/hold_faults", facts->hold_faults,
		   sizeof(facts->hold_faults));
	read_installed_module(facts, root);
	read_built_module(facts, root);
	visit_lines(root, "/proc/self/status", visit_status, facts);
	facts->user_namespace = is_other_namespace(root, "/proc/self/ns/user", NS_INITIAL_USER);
	facts->pid_namespace = is_other_namespace(root, "/proc/self/ns/pid", NS_INITIAL_PID);
	facts->perf_event_paranoid = number_in(root, "/proc/sys/kernel/perf_event_paranoid");
	visit_lines(root, "/proc/self/mounts", visit_mounts, facts);
	facts->tracefs =
		!access(below(root, "/sys/kernel/tracing/events/vmscan"), R_OK | X_OK) ||
		!access(below(root, "/sys/kernel/debug/tracing/events/vmscan"), R_OK | X_OK);
	facts->debugfs_readable = !access(below(root, "/sys/kernel/debug"), R_OK | X_OK);
	read_memory(facts, root);
	read_clock(facts, root);
	if (path)
		read_path(facts, path);
	return 0;
}
