/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_DRIVE_H
#define PFSTAT_USER_CMD_DRIVE_H

/* pfdrive [OPTION...] FILE: makes the accesses itself. Returns the exit status. */
int cmd_drive(int argc, char **argv);

#endif
