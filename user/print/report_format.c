// SPDX-License-Identifier: GPL-2.0-only
/* The rows of REPORT_FORMATS, for the commands and for the code that runs a printer. */
#include "print/printers.h"
#include "print/report_format.h"

#define WORD(name, word, kind, printer, bytes, help) word,
const char *const report_format_words[] = { REPORT_FORMATS(WORD, WORD) NULL };
const char *const result_format_words
	[] = { [REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL };

#define ROW_REPORT(printer)			  .print = printer
#define ROW_FAULTS(printer)			  .faults = &printer
#define ROW_PROFILE(printer)			  .print_profile = printer
#define ROW(name, word, kind, printer, how, help) { .bytes = FORMAT_##how, ROW_##kind(printer) },

const struct report_format_row *report_format_row(enum report_format format)
{
	static const struct report_format_row rows[] = { REPORT_FORMATS(ROW, ROW) };

	return &rows[format];
}

bool report_format_has_faults(enum report_format format)
{
	return !report_format_row(format)->print;
}

bool report_format_is_binary(enum report_format format)
{
	return report_format_row(format)->bytes != FORMAT_TEXT;
}

bool report_format_is_compressed(enum report_format format)
{
	return report_format_row(format)->bytes == FORMAT_GZIP;
}
