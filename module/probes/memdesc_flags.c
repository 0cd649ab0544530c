// SPDX-License-Identifier: GPL-2.0-only
/* Are a folio's flags a struct? No: 6.1, 6.12. Yes: 6.18 and later. */
#include <linux/mm.h>

unsigned long probe(struct folio *folio);
unsigned long probe(struct folio *folio)
{
	return folio->flags.f;
}
