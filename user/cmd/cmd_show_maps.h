/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_SHOW_MAPS_H
#define PFSTAT_USER_CMD_SHOW_MAPS_H

/* pfdrive show-maps -p PID: the memory map of a process, explained. Returns the exit status. */
int cmd_show_maps(int argc, char **argv);

#endif
