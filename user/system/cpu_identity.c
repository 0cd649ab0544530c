// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identifies the CPU and the hypervisor: on x86-64 from /proc/cpuinfo and CPUID, otherwise see
 * arm64_identity.c. The name of a machine in a device tree or DMI is there on each architecture.
 */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "system/arm64_identity.h"
#include "system/cpu_identity.h"
#include "util/array.h"
#include "util/counter.h"

#if defined(__x86_64__)
/* Truncates a string too long to fit. */
static void cpu_identity_set(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void cpu_identity_model(char *model, size_t size)
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

/* CPUID leaf 0x40000000 holds the hypervisor's signature. */
void cpu_identity_virtualization(char *name, size_t size)
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
void cpu_identity_model(char *model, size_t size)
{
	arm64_identity_model("", model, size);
}

void cpu_identity_virtualization(char *name, size_t size)
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
