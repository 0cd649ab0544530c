/* SPDX-License-Identifier: GPL-2.0-only */
/* The wrappers for ->fault and ->map_pages, which start with the fast path. */
#ifndef PFSTAT_FAULT_FAST_H
#define PFSTAT_FAULT_FAST_H

#include "wrapping.h"

vm_fault_t pfstat_fault_fast(struct vm_fault *vmf);
vm_fault_t pfstat_map_pages_fast(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff);

/* Makes the wrapping's templates. The other members are already set. */
void pfstat_fault_fast_templates(struct fault_wrapping *wrapping);

#endif
