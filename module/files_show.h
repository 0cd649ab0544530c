/* SPDX-License-Identifier: GPL-2.0-only */
/* The text files: `log`, `stats`, `targets`, and `faults` (faults_show.c). */
#ifndef PFSTAT_FILES_SHOW_H
#define PFSTAT_FILES_SHOW_H

#include <linux/fs.h>

extern const struct file_operations pfstat_log_fops;
extern const struct file_operations pfstat_stats_fops;
extern const struct file_operations pfstat_faults_fops;
extern const struct file_operations pfstat_targets_fops;

#endif
