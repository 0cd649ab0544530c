/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's files in debugfs, see <pfstat/control.h>. */
#ifndef PFSTAT_DEBUGFS_H
#define PFSTAT_DEBUGFS_H

int pfstat_debugfs_init(void);
void pfstat_debugfs_exit(void);

#endif
