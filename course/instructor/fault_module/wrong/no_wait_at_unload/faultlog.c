// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference of lab c: logs each call of ->fault() for the file mappings of one process.
 *
 * A VMA gets a copy of its operations with other ->fault(), ->open() and ->close(). fork, mremap
 * and munmap copy and end VMAs; ->open() and ->close() count those that have a copy. Unloading
 * restores the operations until none is left, and then waits for the calls that are under way.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#define MOST_COPIES 16
#define MOST_CALLS  65536

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "the process whose mappings are watched");

struct copy {
	struct vm_operations_struct ops;
	const struct vm_operations_struct *original;
};

struct call {
	u64 start_ns;
	u64 duration_ns;
	pid_t tid;
	unsigned long address;
	vm_fault_t result;
	bool complete;
};

/* Copies are added while the module loads, and stay until it is gone. */
static struct copy copies[MOST_COPIES];
static int copy_count;
static atomic_t vmas;	      /* that have a copy */
static atomic_t calls_inside; /* of faultlog_fault() */
static DECLARE_WAIT_QUEUE_HEAD(last_call);

static struct call *calls;
static atomic_t call_count;
static struct dentry *log_file;

static struct copy *copy_of(const struct vm_operations_struct *ops)
{
	for (int i = 0; i < copy_count; i++)
		if (&copies[i].ops == ops)
			return &copies[i];
	return NULL;
}

/* The original, also if the VMA got it back since the caller read ->fault. */
static const struct vm_operations_struct *original_of(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = READ_ONCE(vma->vm_ops);
	const struct copy *copy = copy_of(ops);

	return copy ? copy->original : ops;
}

static void log_call(u64 start_ns, unsigned long address, vm_fault_t result)
{
	const u64 end_ns = ktime_get_ns();
	const int number = atomic_inc_return(&call_count) - 1;

	if (number >= MOST_CALLS)
		return;
	calls[number] = (struct call){ start_ns, end_ns - start_ns, current->pid, address, result };
	smp_store_release(&calls[number].complete, true); /* pairs with faultlog_show() */
}

static vm_fault_t faultlog_fault(struct vm_fault *vmf)
{
	const unsigned long address = vmf->address;
	vm_fault_t result;
	u64 start_ns;

	atomic_inc(&calls_inside);
	start_ns = ktime_get_ns();
	/* If it returns VM_FAULT_RETRY, the VMA may be gone: use vmf->vma only before. */
	result = original_of(vmf->vma)->fault(vmf);
	log_call(start_ns, address, result);
	if (atomic_dec_and_test(&calls_inside))
		wake_up(&last_call);
	return result;
}

static void faultlog_vma_open(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *original = original_of(vma);

	atomic_inc(&vmas);
	if (original->open)
		original->open(vma);
}

static void faultlog_vma_close(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *original = original_of(vma);

	if (original->close)
		original->close(vma);
	atomic_dec(&vmas);
}

static struct copy *make_copy(const struct vm_operations_struct *original)
{
	struct copy *copy;

	for (int i = 0; i < copy_count; i++)
		if (copies[i].original == original)
			return &copies[i];
	if (copy_count == MOST_COPIES)
		return NULL;
	copy = &copies[copy_count];
	copy->original = original;
	copy->ops = *original;
	copy->ops.fault = faultlog_fault;
	copy->ops.open = faultlog_vma_open;
	copy->ops.close = faultlog_vma_close;
	copy_count++;
	return copy;
}

static void hook(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	struct copy *copy;

	/* Faults may go on: the original and the copy both serve them. */
	mmap_write_lock(mm);
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		if (!vma->vm_file || !vma->vm_ops || !vma->vm_ops->fault)
			continue;
		copy = make_copy(vma->vm_ops);
		if (!copy)
			continue;
		atomic_inc(&vmas);
		WRITE_ONCE(vma->vm_ops, &copy->ops);
	}
	mmap_write_unlock(mm);
}

static void unhook(struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	struct copy *copy;

	mmap_write_lock(mm);
	VMA_ITERATOR(vmi, mm, 0);
	for_each_vma(vmi, vma) {
		copy = copy_of(vma->vm_ops);
		if (!copy)
			continue;
		WRITE_ONCE(vma->vm_ops, copy->original);
		atomic_dec(&vmas);
	}
	mmap_write_unlock(mm);
}

/* The address space of the process after the given one, by process number; NULL: none is left. */
static struct mm_struct *next_mm(pid_t after, pid_t *found)
{
	struct task_struct *task, *next = NULL;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	for_each_process(task)
		if (task->pid > after && (!next || task->pid < next->pid))
			next = task;
	if (next) {
		*found = next->pid;
		get_task_struct(next);
	}
	rcu_read_unlock();
	if (!next)
		return NULL;
	mm = get_task_mm(next);
	put_task_struct(next);
	return mm ?: ERR_PTR(-ESRCH);
}

static void unhook_all(void)
{
	struct mm_struct *mm;
	pid_t last = 0;

	while ((mm = next_mm(last, &last))) {
		if (IS_ERR(mm))
			continue;
		unhook(mm);
		mmput(mm);
	}
}

static int faultlog_show(struct seq_file *file, void *unused)
{
	const int count = min(atomic_read(&call_count), MOST_CALLS);

	for (int i = 0; i < count; i++) {
		const struct call *call = &calls[i];

		if (!smp_load_acquire(&call->complete)) /* pairs with log_call() */
			continue;
		seq_printf(file, "%llu %llu %d 0x%lx %s\n", call->start_ns, call->duration_ns,
			   call->tid, call->address,
			   call->result & VM_FAULT_RETRY ? "retry" :
			   call->result & VM_FAULT_MAJOR ? "major" :
							   "minor");
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(faultlog);

static int __init faultlog_init(void)
{
	struct pid *number = find_get_pid(pid);
	struct task_struct *task = get_pid_task(number, PIDTYPE_PID);
	struct mm_struct *mm;

	put_pid(number);
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (!mm)
		return -ESRCH;
	calls = vcalloc(MOST_CALLS, sizeof(*calls));
	if (!calls) {
		mmput(mm);
		return -ENOMEM;
	}
	log_file = debugfs_create_file("faultlog", 0400, NULL, NULL, &faultlog_fops);
	hook(mm);
	mmput(mm);
	return 0;
}

static void __exit faultlog_exit(void)
{
	debugfs_remove(log_file);
	unhook_all();
	/* A fork copies VMAs before its child is in the list of processes. */
	while (atomic_read(&vmas)) {
		schedule_timeout_uninterruptible(1);
		unhook_all();
	}
	vfree(calls);
}

module_init(faultlog_init);
module_exit(faultlog_exit);
MODULE_DESCRIPTION("Logs the faults of one process");
MODULE_LICENSE("GPL");
