/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_DRIVE_H
#define PFSTAT_USER_CMD_DRIVE_H

/* pfdrive [OPTION...] FILE: makes the accesses itself. Returns the exit status. */
int cmd_drive(int argc, char **argv);

/*
 * The same accesses alone, nothing measured, for another program to watch: all
 * of them, and none (what is left is what such a program sees beside the accesses).
 */
int cmd_loop(int argc, char **argv);
int cmd_bare_loop(int argc, char **argv);

#endif
