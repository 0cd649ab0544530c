// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identifies an arm64 machine from files: the kernel shows only numbers of the cores, and firmware
 * describes the machine by a device tree or by DMI. It is compiled on every machine, for tests.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "system/arm64_identity.h"
#include "util/array.h"
#include "util/first_line.h"

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
