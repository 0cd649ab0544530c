/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_RECORD_H
#define PFSTAT_USER_CMD_RECORD_H

/* pfdrive record [OPTION...] [-- COMMAND...]: any program as the workload. */
int cmd_record(int argc, char **argv);

#endif
