/* SPDX-License-Identifier: GPL-2.0-only */
/* The wrappers of ->fault and ->map_pages, which begin with the fast path. */
#ifndef PFSTAT_FAULT_FAST_H
#define PFSTAT_FAULT_FAST_H

#include "wrapping.h"

vm_fault_t pfstat_fault_fast(struct vm_fault *vmf);
vm_fault_t pfstat_map_pages_fast(struct vm_fault *vmf, pgoff_t start_pgoff, pgoff_t end_pgoff);

/* Makes the templates of the wrapping, whose other members are set. */
void pfstat_fault_fast_templates(struct fault_wrapping *wrapping);

#endif
