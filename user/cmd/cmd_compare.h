/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_COMPARE_H
#define PFSTAT_USER_CMD_COMPARE_H

/* pfdrive compare A.pfs B.pfs: did it get better? Returns the exit status. */
int cmd_compare(int argc, char **argv);

#endif
