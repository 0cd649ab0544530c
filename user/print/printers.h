/* SPDX-License-Identifier: GPL-2.0-only */
/* The printers in REPORT_FORMATS, by kind. Each function returns 0 or a negative errno. */
#ifndef PFSTAT_USER_PRINTERS_H
#define PFSTAT_USER_PRINTERS_H

#include <jansson.h>

#include "analyze/profile.h"
#include "print/report_format.h"
#include "print/view_run.h"

/* Warnings about missing data, for the reader of the faults. */
struct missing_faults {
	const char *damage;   /* one clause, or NULL */
	uint64_t lost;	      /* lost records, COUNT_NA if not known */
	uint64_t events_lost; /* lost events, COUNT_NA if not known */
};

/* Prints each fault, or one kind of item, while a recording is read. */
struct fault_printer {
	/* The caller still owns @out and @analysis. */
	int (*open)(void **data, FILE *out, const struct analysis *analysis);
	/* An item_sink, called before the analysis has the item, or NULL if faults suffice. */
	int (*item)(void *data, const struct item *item);
	explain_sink fault; /* NULL: items suffice */
	/* Completes the output, and frees @data in any case. */
	int (*end)(void *data, const struct missing_faults *missing);
};

struct profile_head {
	const char *command; /* the measured program's name, "" if not known */
	const char *version; /* pfdrive's version */
	int64_t started_s;   /* since 1970, UTC, 0 if n/a */
	uint64_t origin_ns;  /* CLOCK_MONOTONIC at the start of the recording, or 0 if n/a */
	const char *missing; /* warnings about lost data, in one line, "" if none */
};

struct report_printer {
	/* One of these is not NULL. */
	int (*print)(FILE *out, const struct view *views, size_t nr);
	const struct fault_printer *faults;
	int (*print_profile)(FILE *out, const struct profile *profile,
			     const struct profile_head *head);
};

const struct report_printer *report_printer(enum report_format format);

#define DECLARE_REPORT(printer) int printer(FILE *out, const struct view *views, size_t nr);
#define DECLARE_FAULTS(printer) extern const struct fault_printer printer;
#define DECLARE_PROFILE(printer) \
	int printer(FILE *out, const struct profile *profile, const struct profile_head *head);
#define DECLARE_PRINTER(name, word, kind, printer, bytes, help) DECLARE_##kind(printer)
REPORT_FORMATS(DECLARE_PRINTER, DECLARE_PRINTER)

/* Prints the columns of the formats that have rows, as CSV. Returns 0 or a negative errno. */
int print_rows_columns(FILE *out);

/*
 * The JSON schema of a report: reads the part by hand, and adds the definitions made from rows of
 * fields. NULL: message() has printed why.
 */
json_t *json_schema(const char *path);

#endif
