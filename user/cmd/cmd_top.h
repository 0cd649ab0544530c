/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_TOP_H
#define PFSTAT_USER_CMD_TOP_H

/* pfdrive top [OPTION...] [-- COMMAND...]: what happens now, every second. */
int cmd_top(int argc, char **argv);

#endif
