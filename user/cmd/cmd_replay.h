/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_REPLAY_H
#define PFSTAT_USER_CMD_REPLAY_H

/* pfdrive replay [OPTION...] RUN.pfs: the same pages under another policy. */
int cmd_replay(int argc, char **argv);

#endif
