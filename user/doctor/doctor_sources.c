// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tries decide, as far as they were made. For a machine of which only files are known (--root),
 * a source works if no file speaks against it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <string.h>

#include "doctor/doctor_sources.h"
#include "privilege/privilege.h"
#include "util/kernel_release.h"
#include "util/version.h"

/* From this release on, bpf(2) refuses a user by command: see bpf_call.h. */
#define BPF_CALL_KERNEL "5.19"

uint64_t doctor_lacks(const struct doctor_facts *facts, uint64_t wanted)
{
	uint64_t have = facts->capabilities;

	if (have & CAPABILITY(CAP_SYS_ADMIN))
		have |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	return wanted & ~have;
}

static bool is_older_than(const struct doctor_facts *facts, const char *release)
{
	return kernel_release_number(facts->release) < kernel_release_number(release);
}

bool doctor_is_too_old_for_module(const struct doctor_facts *facts)
{
	return is_older_than(facts, OLDEST_KERNEL);
}

/* In a PID namespace mappings cannot be matched: see instruments.c. */
bool doctor_source_module_works(const struct doctor_facts *facts)
{
	const struct doctor_tries *tries = &facts->tries;

	if (!facts->loaded || facts->pid_namespace)
		return false;
	if (tries->made)
		return !tries->module.err || tries->module.err == -EBUSY;
	return !doctor_lacks(facts, CAPABILITY(CAP_PERFMON)) && !facts->user_namespace;
}

bool doctor_source_bpf_works(const struct doctor_facts *facts)
{
	if (facts->without_bpf || !facts->bpffs || facts->pid_namespace)
		return false;
	if (facts->tries.made)
		return !facts->tries.bpf.err;
	return !doctor_source_bpf_obstacle(facts) &&
	       !doctor_lacks(facts, CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON));
}

enum perf_access doctor_source_perf_access(const struct doctor_facts *facts)
{
	const int paranoid = facts->perf_event_paranoid;

	if (facts->tries.made)
		return facts->tries.perf.access;
	if (paranoid == INT_MAX)
		return PERF_ACCESS_NONE;
	if (paranoid <= 1 || !doctor_lacks(facts, CAPABILITY(CAP_SYS_ADMIN)))
		return PERF_ACCESS_ALL;
	if (paranoid > 2)
		return PERF_ACCESS_NONE;
	return doctor_lacks(facts, CAPABILITY(CAP_PERFMON)) ? PERF_ACCESS_USER : PERF_ACCESS_ALL;
}

enum doctor_source doctor_source_of(const struct doctor_facts *facts)
{
	const bool module = doctor_source_module_works(facts);

	if (doctor_source_bpf_works(facts))
		return module ? DOCTOR_SOURCE_MODULE_AND_BPF : DOCTOR_SOURCE_BPF;
	if (doctor_source_perf_access(facts))
		return DOCTOR_SOURCE_PERF;
	return module ? DOCTOR_SOURCE_MODULE : DOCTOR_SOURCE_NONE;
}

static bool is_about_privileges(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* An error about privileges says nothing about root. */
static const char *doctor_bpf_refusal(const struct doctor_facts *facts)
{
	const bool entitled = !doctor_lacks(facts, CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON));
	const struct doctor_tries *tries = &facts->tries;

	if (tries->bpf_call && tries->filtered &&
	    (entitled || !is_older_than(facts, BPF_CALL_KERNEL)))
		return "a system call filter (seccomp) refuses bpf(2)";
	if (tries->made ? tries->bpf_call == -ENOSYS :
			  facts->options[CONFIG_BPF_SYSCALL] == OPTION_OFF)
		return "this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)";
	if (tries->bpf.err == -EOPNOTSUPP)
		return "this kernel has no ftrace direct calls, which the programs need";
	if (tries->bpf.err == -EPERM && entitled)
		return "the kernel refuses to load the programs";
	if (tries->bpf.err && (entitled || !is_about_privileges(tries->bpf.err)))
		return "the programs cannot be loaded";
	return NULL;
}

const char *doctor_source_bpf_obstacle(const struct doctor_facts *facts)
{
	if (facts->without_bpf)
		return "this pfdrive was built without it (BPF=no)";
	if (facts->user_namespace)
		return "no capability counts in this user namespace";
	if (facts->pid_namespace)
		return "this container has separate process ids";
	if (!facts->btf)
		return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)";
	if (is_older_than(facts, OLDEST_BPF_KERNEL))
		return "this kernel is older than " OLDEST_BPF_KERNEL;
	if (!strcmp(facts->lockdown, "confidentiality"))
		return "the kernel is locked down for confidentiality";
	return doctor_bpf_refusal(facts);
}
