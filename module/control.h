/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's files in debugfs; see <pfstat/control.h>. */
#ifndef PFSTAT_MODULE_CONTROL_H
#define PFSTAT_MODULE_CONTROL_H

int pfstat_control_init(void);
void pfstat_control_exit(void);

#endif
