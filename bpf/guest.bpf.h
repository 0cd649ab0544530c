/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults on the memory of a KVM guest. KVM takes them with get_user_pages() while it has loaded the
 * virtual CPU of the thread. Only then, the thread has a notifier of preemption: KVM alone uses
 * these.
 */
#ifndef PFSTAT_BPF_GUEST_H
#define PFSTAT_BPF_GUEST_H

#include <pfstat/record.h>

#include "common.bpf.h"

struct hlist_head {
	void *first;
} __attribute__((preserve_access_index));

/* There only with CONFIG_PREEMPT_NOTIFIERS, which KVM selects. */
struct task_struct___notified {
	struct hlist_head preempt_notifiers;
} __attribute__((preserve_access_index));

/* PFSTAT_FLAG_GUEST or 0. @has_regs: the fault is an exception. */
static __always_inline __u32 guest_flag(bool has_regs)
{
	const struct task_struct___notified *task = (const void *)bpf_get_current_task_btf();

	if (has_regs || !bpf_core_field_exists(task->preempt_notifiers))
		return 0;
	return BPF_CORE_READ(task, preempt_notifiers.first) ? PFSTAT_FLAG_GUEST : 0;
}

#endif
