// SPDX-License-Identifier: GPL-2.0-only
/*
 * The most frequent reasons are those of the machine or the kernel: no BTF, a container, lockdown,
 * a capability. Others are reported as the kernel's error.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/bpf_pins.h"
#include "collect/bpf_programs.h"
#include "privilege/privilege.h"
#include "system/own_process.h"
#include "util/version.h"
#include "util/why.h"

/*
 * Keeps the last 64 KiB of libbpf messages instead of printing them. The terminal shows only
 * pfdrive's own error message.
 */

static char kept[BPF_LOG_BYTES];
static uint64_t written; /* total bytes, the next goes to written % BPF_LOG_BYTES */

static bool bpf_log_is_wanted(void)
{
	const char *value = getenv("PFDRIVE_DEBUG");

	return value && !strcmp(value, "1");
}

static void bpf_log_append(const char *text)
{
	for (; *text; text++)
		kept[written++ % BPF_LOG_BYTES] = *text;
}

int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *text;

	if (level == LIBBPF_DEBUG && !bpf_log_is_wanted())
		return 0;
	if (vasprintf(&text, format, arguments) < 0)
		return 0;
	bpf_log_append(text);
	free(text);
	return 0;
}

void bpf_log_dump(FILE *out)
{
	uint64_t at = written > BPF_LOG_BYTES ? written - BPF_LOG_BYTES : 0;

	if (!bpf_log_is_wanted())
		return;
	for (; at < written; at++)
		putc(kept[at % BPF_LOG_BYTES], out);
	written = 0;
}

const char *bpf_explain_missing(void)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "cannot load the eBPF programs: this kernel has no BTF "
		       "(CONFIG_DEBUG_INFO_BTF); use another kernel, or --no-bpf";
	if (!pid_namespace_is_initial())
		return "cannot use eBPF in this container: it has separate process ids; run "
		       "pfdrive outside it, or use --no-bpf";
	if (!bpf_pins_possible())
		return "cannot pin the eBPF maps: no bpf file system is mounted; run mount -t bpf "
		       "-o mode=700 bpf /sys/fs/bpf, or use --no-bpf";
	return NULL;
}

void bpf_explain(const char *step, int err, struct why *why)
{
	const uint64_t needed = CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
	const char *level = lockdown_level();
	char names[CAPABILITY_NAMES_SIZE];

	bpf_log_dump(stderr);
	if ((err == -EPERM || err == -EACCES) && capabilities_lack(needed, names, sizeof(names)))
		why_set(why, "cannot %s without %s; run as root with it, or use --no-bpf", step,
			names);
	else if (syscall_filter_is_set() && syscall_filter_try_bpf())
		why_set(why,
			"cannot %s: a system call filter (seccomp) refuses bpf(2); start the "
			"container with --security-opt seccomp=unconfined, or use --no-bpf",
			step);
	else if (level && !strcmp(level, "confidentiality"))
		why_set(why,
			"cannot load the eBPF programs: the kernel is locked down "
			"(confidentiality), so that eBPF cannot read kernel memory; use --no-bpf");
	else if (err == -ENOSYS)
		why_set(why, "cannot load the eBPF programs: this kernel is older than "
			     "Linux " OLDEST_BPF_KERNEL "; use a newer kernel");
	else if (err == -EOPNOTSUPP)
		why_set(why,
			"cannot load the eBPF programs: this kernel has no ftrace direct calls "
			"(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS; on arm64 since 6.4); use "
			"another kernel, or --no-bpf");
	else if (err == -EACCES && !geteuid())
		why_set(why, "cannot load the eBPF programs: this kernel's verifier rejects them; "
			     "report a bug with the verifier's log, which PFDRIVE_DEBUG=1 in the "
			     "environment prints, and use --no-bpf until then");
	else if (err == -EPERM && !geteuid())
		why_set(why,
			"cannot %s: permission denied, although this process has the "
			"capabilities; a kernel security module may refuse it; use --no-bpf",
			step);
	else if (err == -EPERM || err == -EACCES)
		why_set(why, "cannot %s: permission denied; run as root, or use --no-bpf", step);
	else
		why_set(why, "cannot %s: %s; use --no-bpf to measure without eBPF", step,
			strerror(-err));
}
