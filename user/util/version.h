/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of pfdrive: what --version says, and what a recording's head names. */
#ifndef PFSTAT_USER_VERSION_H
#define PFSTAT_USER_VERSION_H

#define PFDRIVE_VERSION "0.1"

#endif
