// SPDX-License-Identifier: GPL-2.0-only
/* The text file `faults`: the handle_mm_fault() counts. It reads them, and changes nothing. */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <pfstat/event.h>

#include "access.h"
#include "files_show.h"
#include "mm_counts.h"
#include "mm_fault.h"
#include "mm_hook.h"
#include "mm_thread.h"

static const char *const kind_names[] = PFSTAT_FAULT_KIND_NAMES;
static const char *const origin_names[] = PFSTAT_FAULT_ORIGIN_NAMES;
static const char *const outcome_names[] = PFSTAT_FAULT_OUTCOME_NAMES;

static_assert(ARRAY_SIZE(kind_names) == PFSTAT_NR_FAULT_KINDS);
static_assert(ARRAY_SIZE(origin_names) == PFSTAT_NR_ORIGINS);
static_assert(ARRAY_SIZE(outcome_names) == PFSTAT_NR_OUTCOMES);

static void show_count(struct seq_file *m, unsigned int index,
		       const struct pfstat_fault_value *value)
{
	const unsigned int outcome = index % PFSTAT_NR_OUTCOMES;
	const unsigned int origin = index / PFSTAT_NR_OUTCOMES % PFSTAT_NR_ORIGINS;
	const unsigned int kind = index / PFSTAT_NR_OUTCOMES / PFSTAT_NR_ORIGINS;

	if (value->count)
		seq_printf(m, "%s %s %s %llu %llu\n", kind_names[kind], origin_names[origin],
			   outcome_names[outcome], value->count, value->total_ns);
}

static int faults_show(struct seq_file *m, void *v)
{
	struct mm_counts *sum = kmalloc(sizeof(*sum), GFP_KERNEL);
	const struct mm_missed missed = pfstat_mm_thread_missed();
	unsigned int i;

	if (!sum)
		return -ENOMEM;
	pfstat_mm_counts_sum(sum);
	seq_printf(m, "held           %s\n", pfstat_mm_hook_is_held() ? "yes" : "no");
	seq_printf(m, "swap           %s\n", pfstat_mm_hook_has_swap() ? "yes" : "no");
	seq_printf(m, "write          %s\n", pfstat_mm_hook_has_write() ? "yes" : "no");
	seq_printf(m, "in_flight      %ld\n", pfstat_mm_counts_in_flight());
	seq_printf(m, "stored         %llu\n", sum->stored);
	seq_printf(m, "lost           %llu\n", sum->lost);
	seq_printf(m, "missed_minor   %lld\n", missed.minor);
	seq_printf(m, "missed_major   %lld\n", missed.major);
	seq_printf(m, "missed_threads %llu\n", missed.threads);
	seq_printf(m, "missed_children %llu\n\n", missed.children);
	seq_puts(m, "kind origin outcome count total_ns\n");
	for (i = 0; i < PFSTAT_NR_FAULT_INDICES; i++)
		show_count(m, i, &sum->faults[i]);
	kfree(sum);
	return 0;
}

static int faults_open(struct inode *inode, struct file *file)
{
	return pfstat_access_may_open() ?: single_open(file, faults_show, NULL);
}

const struct file_operations pfstat_faults_fops = {
	.owner = THIS_MODULE,
	.open = faults_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};
