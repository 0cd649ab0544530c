/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's files in /dev/pfstat, see <pfstat/control.h>. */
#ifndef PFSTAT_DEVICE_H
#define PFSTAT_DEVICE_H

int pfstat_device_init(void);
void pfstat_device_exit(void);

#endif
