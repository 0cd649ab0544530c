// SPDX-License-Identifier: GPL-2.0-only
/*
 * A handler of userfaultfd reads the faults of a target: from then on the handler knows the fault.
 * The handler is often another process, so the address space of the file decides.
 */
#include <linux/userfaultfd.h>

#include "common.bpf.h"

#define MESSAGES_MAX 64 /* in one read(2); the program is loaded only if its loop ends */

/* There only with CONFIG_MEMCG. */
struct mm_struct___owned {
	struct task_struct *owner;
} __attribute__((preserve_access_index));

struct userfaultfd_ctx {
	struct mm_struct___owned *mm;
} __attribute__((preserve_access_index));

struct file {
	void *private_data;
} __attribute__((preserve_access_index));

struct kiocb {
	struct file *ki_filp;
} __attribute__((preserve_access_index));

enum iter_type { ITER_UBUF = 1 };

struct iov_iter {
	__u8 iter_type;
	__u64 iov_offset;
	void *ubuf;
} __attribute__((preserve_access_index));

struct task_struct___led {
	struct task_struct *group_leader;
} __attribute__((preserve_access_index));

/* The process whose faults the file has; 0: no target. */
static __always_inline __u32 target_of(const struct file *file)
{
	const struct userfaultfd_ctx *context = BPF_CORE_READ(file, private_data);
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (bpf_core_field_exists(struct mm_struct___owned, owner))
		pid = BPF_CORE_READ(context, mm, owner, tgid);
	return is_target(pid, pid) ? pid : 0;
}

/*
 * Sends the event of one message. The verifier checks a global function once, not for each message.
 * Returns 0, or -1 if the message cannot be read.
 */
__noinline int send_message(__u64 address, struct pfstat_userfault *event)
{
	struct uffd_msg message;

	if (!event || bpf_probe_read_user(&message, sizeof(message), (const void *)address))
		return -1;
	if (message.event != UFFD_EVENT_PAGEFAULT)
		return 0;
	event->address = message.arg.pagefault.address;
	event_send(event, sizeof(*event));
	return 0;
}

/* The messages were written just before, so their pages are present. */
static __always_inline void send_messages(const struct file *file, const struct uffd_msg *messages,
					  long bytes)
{
	const struct task_struct___led *task = (const void *)bpf_get_current_task_btf();
	const __u64 id = bpf_get_current_pid_tgid();
	struct pfstat_userfault event = {
		.event = {
			.type = PFSTAT_EVENT_USERFAULT,
			.size = sizeof(event),
			.pid = id >> 32,
			.tid = id,
			.ns = bpf_ktime_get_ns(),
		},
	};
	unsigned int i;

	event.target = target_of(file);
	if (!event.target)
		return;
	BPF_CORE_READ_STR_INTO(&event.comm, task, group_leader, comm);
	for (i = 0; i < MESSAGES_MAX && bytes >= (long)sizeof(*messages); i++) {
		if (send_message((__u64)(messages + i), &event))
			break;
		bytes -= sizeof(*messages);
	}
	if (bytes >= (long)sizeof(*messages))
		count(PFSTAT_COUNT_EVENTS_LOST);
}

SEC("fexit/userfaultfd_read")
int BPF_PROG(on_userfault_read, struct file *file, const struct uffd_msg *messages, __u64 size,
	     void *position, long bytes)
{
	if (bytes > 0)
		send_messages(file, messages, bytes);
	return 0;
}

/* v6.10: read(2) and readv(2) are one. A read into several pieces of memory is not followed. */
SEC("fexit/userfaultfd_read_iter")
int BPF_PROG(on_userfault_read_iter, struct kiocb *call, struct iov_iter *to, long bytes)
{
	const __u8 type = bpf_core_enum_value_exists(enum iter_type, ITER_UBUF) ?
				  bpf_core_enum_value(enum iter_type, ITER_UBUF) :
				  0xff;

	/* BPF_CORE_READ(): the verifier of Linux 7.2 does not take to->ubuf itself for a number. */
	if (bytes > 0 && to->iter_type == type)
		send_messages(call->ki_filp,
			      (const void *)BPF_CORE_READ(to, ubuf) + to->iov_offset - bytes,
			      bytes);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
