// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identifies this machine and its settings, for reports: the CPU, the hypervisor, the kernel and a
 * file's device. A value that cannot be read keeps the "not available" form and is never an error.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "system/kernel_settings.h"
#include "system/machine.h"
#include "system/mounts.h"
#include "util/array.h"
#include "util/counter.h"
#include "util/input_file.h"
#include "util/page_size.h"
#include "util/text.h"

/*
 * Identifies an arm64 machine from files: the kernel shows only numbers of the cores, and firmware
 * describes the machine by a device tree or by DMI. It is compiled on every machine, for tests.
 */

/* Truncates a string too long to fit. */
static void arm64_identity_set(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Returns the value of "KEY : value", or NULL if the line has another key. */
static const char *cpuinfo_value(char *line, const char *key)
{
	const char *value = strchr(line, ':');

	if (!value || strncmp(line, key, strlen(key)))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return value + 1 + strspn(value + 1, " ");
}

static FILE *cpuinfo_open(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	return fopen(path, "re");
}

/* The first line in ROOT/PATH, or "" if it cannot be read. */
static void read_description(const char *root, const char *path, char *line, size_t size)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	first_line_read(full, line, size);
}

/* MIDR_EL1: the part numbers for Arm's own cores, from their reference manuals. */
static const char *arm64_identity_core(unsigned int implementer, unsigned int part)
{
	static const struct {
		unsigned int part;
		const char *name;
	} cores[] = {
		{ 0xd03, "Cortex-A53" },  { 0xd05, "Cortex-A55" },  { 0xd07, "Cortex-A57" },
		{ 0xd08, "Cortex-A72" },  { 0xd09, "Cortex-A73" },  { 0xd0a, "Cortex-A75" },
		{ 0xd0b, "Cortex-A76" },  { 0xd0c, "Neoverse-N1" }, { 0xd0d, "Cortex-A77" },
		{ 0xd40, "Neoverse-V1" }, { 0xd41, "Cortex-A78" },  { 0xd49, "Neoverse-N2" },
		{ 0xd4f, "Neoverse-V2" }, { 0xd84, "Neoverse-V3" }, { 0xd8e, "Neoverse-N3" },
	};
	size_t i;

	for (i = 0; implementer == 0x41 && i < ARRAY_SIZE(cores); i++)
		if (cores[i].part == part)
			return cores[i].name;
	return NULL;
}

/* Appends the core's name, unless the model has it already. */
static void arm64_identity_add_core(char *model, size_t size, unsigned int implementer,
				    unsigned int part)
{
	const char *known = arm64_identity_core(implementer, part);
	size_t used = strlen(model);
	char name[64];

	if (known)
		arm64_identity_set(name, sizeof(name), known);
	else
		snprintf(name, sizeof(name), "implementer %#x, part %#x", implementer, part);
	if (!strstr(model, name))
		snprintf(model + used, size - used, "%s%s", used ? " + " : "", name);
}

static void arm64_identity_read_cores(const char *root, char *model, size_t size)
{
	FILE *file = cpuinfo_open(root);
	unsigned int implementer = 0, part;
	const char *value;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		value = cpuinfo_value(line, "CPU implementer");
		if (value)
			sscanf(value, "%x", &implementer);
		value = cpuinfo_value(line, "CPU part");
		if (value && sscanf(value, "%x", &part) == 1)
			arm64_identity_add_core(model, size, implementer, part);
	}
	if (file)
		fclose(file);
}

#define DEVICE_TREE "/sys/firmware/devicetree/base/"
#define DMI	    "/sys/class/dmi/id/"

void arm64_identity_model(const char *root, char *model, size_t size)
{
	char cores[96] = "", machine[64];

	arm64_identity_read_cores(root, cores, sizeof(cores));
	read_description(root, DEVICE_TREE "model", machine, sizeof(machine));
	if (!machine[0])
		read_description(root, DMI "product_name", machine, sizeof(machine));
	if (cores[0] && machine[0])
		snprintf(model, size, "%s (%s)", cores, machine);
	else if (cores[0] || machine[0])
		arm64_identity_set(model, size, cores[0] ? cores : machine);
}

void arm64_identity_virtualization(const char *root, char *name, size_t size)
{
	static const struct {
		const char *path, *begin, *name;
	} known[] = {
		{ DEVICE_TREE "hypervisor/compatible", "linux,kvm", "kvm" },
		{ DEVICE_TREE "hypervisor/compatible", "xen,xen", "xen" },
		{ DEVICE_TREE "model", "linux,dummy-virt", "qemu" },
		{ DMI "sys_vendor", "QEMU", "qemu" },
		{ DMI "sys_vendor", "VMware", "vmware" },
		{ DMI "product_name", "Apple Virtualization", "apple" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		read_description(root, known[i].path, text, sizeof(text));
		if (strncmp(text, known[i].begin, strlen(known[i].begin)))
			continue;
		arm64_identity_set(name, size, known[i].name);
		return;
	}
}

/*
 * Identifies the CPU and the hypervisor: on x86-64 from /proc/cpuinfo and CPUID, otherwise as
 * above. The name of a machine in a device tree or DMI is there on each architecture.
 */

#if defined(__x86_64__)
/* Truncates a string too long to fit. */
static void cpu_identity_set(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* The name of the CPU, and on arm64 also of the machine. Unchanged if it is not known. */
static void cpu_identity_model(char *model, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];
	const char *value;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "model name", strlen("model name")))
			continue;
		line[strcspn(line, "\n")] = '\0';
		value = strchr(line, ':');
		if (value)
			cpu_identity_set(model, size, value + 1 + strspn(value + 1, " "));
		break;
	}
	fclose(file);
}

/*
 * "none", "kvm", "qemu", …, unchanged if it is not known. On arm64 it is never "none".
 * CPUID leaf 0x40000000 holds the hypervisor's signature.
 */
static void cpu_identity_virtualization(char *name, size_t size)
{
	static const struct {
		const char *signature, *name;
	} known[] = {
		{ "KVMKVMKVM", "kvm" },		  { "TCGTCGTCGTCG", "qemu" },
		{ "Microsoft Hv", "hyperv" },	  { "VMwareVMware", "vmware" },
		{ "VBoxVBoxVBox", "virtualbox" }, { "XenVMMXenVMM", "xen" },
		{ "bhyve bhyve ", "bhyve" },	  { "ACRNACRNACRN", "acrn" },
	};
	unsigned int eax, ebx, ecx, edx;
	unsigned int words[3];
	char signature[sizeof(words) + 1] = "";
	size_t i;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return;
	if (!(ecx & (1U << 31))) { /* "a hypervisor is present" */
		cpu_identity_set(name, size, "none");
		return;
	}
	__cpuid(0x40000000, eax, words[0], words[1], words[2]);
	memcpy(signature, words, sizeof(words));
	cpu_identity_set(name, size, signature);
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(signature, known[i].signature))
			cpu_identity_set(name, size, known[i].name);
}

bool cpu_identity_counter_is_readable(void)
{
	int allowed;

	return !prctl(PR_GET_TSC, &allowed) && allowed == PR_TSC_ENABLE;
}

bool cpu_identity_counter_is_constant(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && edx & (1U << 8);
}
#else
static void cpu_identity_model(char *model, size_t size)
{
	arm64_identity_model("", model, size);
}

static void cpu_identity_virtualization(char *name, size_t size)
{
	arm64_identity_virtualization("", name, size);
}

/*
 * Linux never takes the arm64 counter away from programs. Where the counter is broken, reads are
 * emulated. On other architectures pfdrive reads none.
 */
bool cpu_identity_counter_is_readable(void)
{
	return counter_hz();
}

bool cpu_identity_counter_is_constant(void)
{
	return counter_hz();
}
#endif

#define DIR_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"

/* Truncates a string too long to fit. */
static void copy(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

/* Compares mount ids, because stat(2) has separate device numbers on btrfs and overlayfs. */
static bool read_mount(int fd, struct filesystem *filesystem)
{
	struct statx statx_buffer;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &statx_buffer) &&
	       statx_buffer.stx_mask & STATX_MNT_ID &&
	       mounts_find_id("/proc/self/mountinfo", statx_buffer.stx_mnt_id, filesystem);
}

/*
 * @dev: the file's device number, replaced by the number of the block device below it, or of the
 * mount's source.
 */
static bool find_block_device(const char *source, dev_t *dev)
{
	char path[64];
	struct stat stat_buffer;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(*dev), minor(*dev));
	if (!access(path, F_OK))
		return true;
	if (source[0] != '/' || stat(source, &stat_buffer) || !S_ISBLK(stat_buffer.st_mode))
		return false;
	*dev = stat_buffer.st_rdev;
	return true;
}

static void read_device(struct environment *environment, dev_t dev)
{
	char link[64], target[PATH_MAX];
	const char *name;
	ssize_t length;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		return;
	target[length] = '\0';
	name = strrchr(target, '/');
	copy(environment->device, sizeof(environment->device), name ? name + 1 : target);
}

static void read_place(struct environment *environment, int fd, dev_t dev)
{
	struct filesystem filesystem = { 0 };

	if (read_mount(fd, &filesystem))
		copy(environment->filesystem, sizeof(environment->filesystem), filesystem.type);
	if (find_block_device(filesystem.source, &dev))
		read_device(environment, dev);
	environment->readahead_bytes = readahead_setting_read(fd);
}

/* Extracts the active setting, in brackets: "always [madvise] never". */
static void read_huge_pages(char *setting, size_t size)
{
	char text[64];
	const char *begin;

	first_line_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text));
	begin = strchr(text, '[');
	if (!begin)
		return;
	text[strcspn(text, "]")] = '\0';
	copy(setting, size, begin + 1);
}

/*
 * Stores "" if the command line cannot be read or does not fit: a truncated one would be a
 * different command.
 */
static void read_invocation(char *text, size_t size)
{
	FILE *file = fopen("/proc/self/cmdline", "re"), *out = fmemopen(text, size, "w");
	const char *separator = "";
	size_t room = 0;
	char *word = NULL;
	bool whole;

	text[0] = '\0';
	while (file && out && getdelim(&word, &room, '\0', file) > 0) {
		fputs(separator, out);
		shell_quote(out, word);
		separator = " ";
	}
	free(word);
	whole = out && !fflush(out) && (size_t)ftell(out) < size - 1;
	if (out)
		fclose(out);
	if (file)
		fclose(file);
	if (!whole)
		text[0] = '\0';
}

void machine_state_read(struct environment *environment)
{
	struct utsname uts;
	struct sysinfo info;
	char text[32];

	if (!uname(&uts)) {
		copy(environment->host, sizeof(environment->host), uts.nodename);
		copy(environment->kernel, sizeof(environment->kernel), uts.release);
		copy(environment->architecture, sizeof(environment->architecture), uts.machine);
	}
	cpu_identity_model(environment->machine, sizeof(environment->machine));
	environment->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!sysinfo(&info))
		environment->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	environment->page_bytes = page_size();
	first_line_read(DIR_CLOCKSOURCE "/current_clocksource", environment->clocksource,
			sizeof(environment->clocksource));
	environment->counter_hz = counter_hz();
	cpu_identity_virtualization(environment->virtualization,
				    sizeof(environment->virtualization));
	read_invocation(environment->invocation, sizeof(environment->invocation));
	environment->readahead_bytes = -1;
	environment->pinned_cpu = -1;
	first_line_read("/sys/kernel/debug/fault_around_bytes", text, sizeof(text));
	environment->fault_around_bytes = strtoull(text, NULL, 10);
}

void machine_state_read_file(struct environment *environment, const char *path, int fd, dev_t dev)
{
	char resolved[PATH_MAX];

	copy(environment->file, sizeof(environment->file), realpath(path, resolved) ?: path);
	read_place(environment, fd, dev);
}

void machine_state_read_huge_pages(struct environment *environment)
{
	read_huge_pages(environment->transparent_hugepage,
			sizeof(environment->transparent_hugepage));
}
