// SPDX-License-Identifier: GPL-2.0-only
/* The printer for each row in REPORT_FORMATS. */
#include "print/printers.h"

#define PRINTER_REPORT(printer)				.print = printer
#define PRINTER_FAULTS(printer)				.faults = &printer
#define PRINTER_PROFILE(printer)			.print_profile = printer
#define PRINTER(name, word, kind, printer, bytes, help) { PRINTER_##kind(printer) },

const struct report_printer *report_printer(enum report_format format)
{
	static const struct report_printer printers[] = { REPORT_FORMATS(PRINTER, PRINTER) };

	return &printers[format];
}
