// SPDX-License-Identifier: GPL-2.0-only
/* Looks at the environment and at the terminal, for printers of text. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/terminal.h"

#define DEFAULT_COLUMNS 80 /* if the terminal does not report its width */
#define MOST_COLUMNS	10000

size_t terminal_columns(FILE *out)
{
	const char *wanted = getenv("COLUMNS");
	const long columns = wanted ? strtol(wanted, NULL, 10) : 0;
	struct winsize size;

	if (!isatty(fileno(out)))
		return 0;
	if (columns > 0 && columns <= MOST_COLUMNS)
		return columns;
	return !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col ? size.ws_col :
								       DEFAULT_COLUMNS;
}

static const char *chosen_codeset(char *name, size_t size)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

	if (!locale)
		return NULL;
	snprintf(name, size, "%s", nl_langinfo_l(CODESET, locale));
	freelocale(locale);
	return name;
}

bool terminal_has_unicode(void)
{
	char name[32];
	const char *codeset = chosen_codeset(name, sizeof(name));

	return codeset && !strcmp(codeset, "UTF-8");
}

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text;
}

/* Many systems that show UTF-8 set no locale, or one that is not installed. */
bool terminal_lacks_unicode(void)
{
	char name[32];
	const char *codeset = chosen_codeset(name, sizeof(name));

	return (is_set("LC_ALL") || is_set("LC_CTYPE") || is_set("LANG")) && codeset &&
	       strcmp(codeset, "UTF-8");
}
