/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive report: what a recording holds, as tables, CSV, JSON or a trace. */
#ifndef PFSTAT_USER_CMD_REPORT_H
#define PFSTAT_USER_CMD_REPORT_H

int cmd_report(int argc, char **argv);

#endif
