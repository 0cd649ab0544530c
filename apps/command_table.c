// SPDX-License-Identifier: GPL-2.0-only
/* The table of pfdrive's subcommands, in the order in which `pfdrive --help' lists them. */
#include "advise/advise.h"
#include "cmd/cmd.h"
#include "compare/compare.h"
#include "doctor/doctor.h"
#include "drive/run.h"
#include "layout/layout.h"
#include "limits/limits.h"
#include "live/live.h"
#include "prefetch/prefetch.h"
#include "util/array.h"

const struct subcommand *const subcommands[] = {
	&run_command,	   &record_command,    &top_command,
	&check_command,	   &export_command,    &replay_command,
	&advise_command,   &prefetch_command,  &report_command,
	&compare_command,  &what_if_command,   &layout_command,
	&study_io_command, &study_rss_command, &study_pressure_command,
	&bench_command,	   &maps_command,      &doctor_command,
	&help_command,	   &helper_command,
};

const size_t nr_subcommands = ARRAY_SIZE(subcommands);
