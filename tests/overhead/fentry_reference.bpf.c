// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference for pfstat: the usual way to time a function with eBPF, as cheap as possible.
 * fentry and fexit on filemap_fault, with the start time in task storage (no hash) and one event
 * for each call.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "fentry_reference.h"

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

struct vm_fault {
	unsigned long pgoff;
	unsigned long real_address;
} __attribute__((preserve_access_index));

const volatile __u32 target_pid;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} started SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} faults SEC(".maps");

SEC("fentry/filemap_fault")
int BPF_PROG(on_enter, struct vm_fault *vmf)
{
	__u64 *start_ns;

	if (bpf_get_current_pid_tgid() >> 32 != target_pid)
		return 0;
	start_ns = bpf_task_storage_get(&started, bpf_get_current_task_btf(), 0,
					BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (start_ns)
		*start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/filemap_fault")
int BPF_PROG(on_exit, struct vm_fault *vmf, __u32 result)
{
	__u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid(), *start_ns;
	struct reference_fault *fault;

	if (id >> 32 != target_pid)
		return 0;
	start_ns = bpf_task_storage_get(&started, bpf_get_current_task_btf(), 0, 0);
	if (!start_ns)
		return 0;
	fault = bpf_ringbuf_reserve(&faults, sizeof(*fault), 0);
	if (!fault)
		return 0;
	*fault = (struct reference_fault){
		.start_ns = *start_ns,
		.duration_ns = now - *start_ns,
		.address = vmf->real_address,
		.pgoff = vmf->pgoff,
		.pid = id >> 32,
		.tid = id,
		.result = result,
	};
	/* Wakes no reader, since the reader comes afterwards. */
	bpf_ringbuf_submit(fault, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
