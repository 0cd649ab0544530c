// SPDX-License-Identifier: GPL-2.0-only
/* The words and properties in REPORT_FORMATS, for command options. */
#include <stddef.h>

#include "print/report_format.h"

#define WORD(name, word, kind, printer, bytes, help) word,
const char *const report_format_words[] = { REPORT_FORMATS(WORD, WORD) NULL };
const char *const result_format_words
	[] = { [REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL };

enum kind { REPORT, FAULTS, PROFILE };
enum bytes { TEXT, BINARY, GZIP };

#define ROW(name, word, kind, printer, bytes, help) { kind, bytes },
static const struct {
	enum kind kind;
	enum bytes bytes;
} rows[] = { REPORT_FORMATS(ROW, ROW) };

bool report_format_has_faults(enum report_format format)
{
	return rows[format].kind != REPORT;
}

bool report_format_is_binary(enum report_format format)
{
	return rows[format].bytes != TEXT;
}

bool report_format_is_compressed(enum report_format format)
{
	return rows[format].bytes == GZIP;
}

bool report_format_has_code(enum report_format format)
{
	return format == REPORT_FAULTS_CSV || format == REPORT_FAULTS_JSONL;
}
