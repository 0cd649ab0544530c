/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_VIA_H
#define PFSTAT_USER_CMD_VIA_H

/* pfdrive via [OPTION...] [WAY...]: mmap against read and write. Returns the exit status. */
int cmd_via(int argc, char **argv);

#endif
