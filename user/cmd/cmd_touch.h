/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_TOUCH_H
#define PFSTAT_USER_CMD_TOUCH_H

/* pfdrive touch [OPTION...] FILE [OFFSET...]: what a first touch does. Returns the exit status. */
int cmd_touch(int argc, char **argv);

#endif
