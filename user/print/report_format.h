/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of report formats. A new format is a row in this table, a file with the printer, and a
 * paragraph in pfdrive-report(1). Options, --help and completion follow.
 */
#ifndef PFSTAT_USER_REPORT_FORMAT_H
#define PFSTAT_USER_REPORT_FORMAT_H

#include <stdbool.h>

/*
 * FIRST and NEXT are called as (NAME, word, kind, printer, bytes, help). A format's kind is the
 * printer's type, declared in printers.h:
 *
 *	REPORT	a function that prints filled reports
 *	FAULTS	a struct fault_printer, which prints each fault or item while a recording is read
 *	PROFILE	a function that prints the profile of a recording
 *
 * The bytes are TEXT, BINARY (not for a terminal), or GZIP (also compressed already).
 */
#define REPORT_FORMATS(FIRST, NEXT)                                                               \
	FIRST(TABLE, "table", REPORT, table_print, TEXT, "for people")                            \
	NEXT(CSV, "csv", REPORT, print_csv, TEXT, "a line for each class or group")               \
	NEXT(JSON, "json", REPORT, json_print, TEXT, "everything")                                \
	NEXT(FOLDED, "folded", REPORT, print_folded, TEXT, "time by call path, for flame graphs") \
	NEXT(PERFETTO, "perfetto", FAULTS, perfetto_printer, BINARY, "a trace for its viewer")    \
	NEXT(FAULTS_CSV, "faults-csv", FAULTS, csv_rows_printer, TEXT, "a row for each fault")    \
	NEXT(FAULTS_JSONL, "faults-jsonl", FAULTS, json_rows_printer, TEXT, "the same as JSON")   \
	NEXT(REQUESTS_CSV, "requests-csv", FAULTS, requests_csv_printer, TEXT,                    \
	     "a row for each block device request")                                               \
	NEXT(MAPPINGS_CSV, "mappings-csv", FAULTS, mappings_csv_printer, TEXT,                    \
	     "a row for each mapping")                                                            \
	NEXT(PPROF, "pprof", PROFILE, pprof_print, GZIP, "a profile for pprof")                   \
	NEXT(FIREFOX, "firefox", PROFILE, firefox_print, TEXT, "for the Firefox Profiler")

#define REPORT_FORMAT_NAME(name, word, kind, printer, bytes, help) REPORT_##name,
enum report_format { REPORT_FORMATS(REPORT_FORMAT_NAME, REPORT_FORMAT_NAME) NR_REPORT_FORMATS };

#define REPORT_FORMAT_WORD(name, word, kind, printer, bytes, help)     word
#define REPORT_FORMAT_BAR_WORD(name, word, kind, printer, bytes, help) "|" word
#define REPORT_FORMAT_LINE(name, word, kind, printer, bytes, help)     "; " word ": " help

/* "table|csv|…", for an option's argument. */
#define REPORT_FORMAT_WORDS REPORT_FORMATS(REPORT_FORMAT_WORD, REPORT_FORMAT_BAR_WORD)

/* "; table: for people; csv: …", for an option's help. */
#define REPORT_FORMAT_HELP REPORT_FORMATS(REPORT_FORMAT_LINE, REPORT_FORMAT_LINE)

/* The words by enum report_format, and a NULL at the end. */
extern const char *const report_format_words[NR_REPORT_FORMATS + 1];
/* The same for the formats common to all commands printing results. */
extern const char *const result_format_words[];
/* The format has every fault, which only a recording has. */
bool report_format_has_faults(enum report_format format);
/* The output is not for a terminal. */
bool report_format_is_binary(enum report_format format);
bool report_format_is_compressed(enum report_format format);
/* The format has a row for each fault, with the names of its code. */
bool report_format_has_code(enum report_format format);

#endif
