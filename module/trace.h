/* SPDX-License-Identifier: GPL-2.0-only */
/* The event pfstat:pfstat_fault has every record, for perf, trace-cmd and bpftrace. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pfstat

#if !defined(PFSTAT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PFSTAT_TRACE_H

#include <linux/tracepoint.h>
#include <pfstat/record.h>

/* So tools parsing the event's format know the values. */
#define TRACE_CLASS_ENUM(name, spelling, column) TRACE_DEFINE_ENUM(PFSTAT_CLASS_##name);
PFSTAT_CLASSES(TRACE_CLASS_ENUM)
#define TRACE_CLASS_SYMBOL(name, spelling, column) { PFSTAT_CLASS_##name, spelling },
TRACE_DEFINE_ENUM(PFSTAT_OP_FAULT);
TRACE_DEFINE_ENUM(PFSTAT_OP_MAP_PAGES);
TRACE_DEFINE_ENUM(PFSTAT_OP_HUGE_FAULT);
TRACE_DEFINE_ENUM(PFSTAT_OP_PAGE_MKWRITE);
TRACE_DEFINE_ENUM(PFSTAT_OP_PFN_MKWRITE);

/* Without a device: the calls by which the module measures itself (calibrate.c). */
TRACE_EVENT_CONDITION(
	pfstat_fault, TP_PROTO(const struct pfstat_record *record), TP_ARGS(record),
	TP_CONDITION(record->dev),
	TP_STRUCT__entry(__field(u64, start_ns) __field(u64, duration_ns) __field(u64, earlier_ns)
				 __field(u64, address) __field(u64, pgoff) __field(u64, pfn)
					 __field(u64, inode) __field(u32, dev) __field(u32, flags)
						 __field(u32, result) __field(u8, op)
							 __field(u8, class) __field(u8, order)),
	TP_fast_assign(__entry->start_ns = record->start_ns;
		       __entry->duration_ns = record->duration_ns;
		       __entry->earlier_ns = record->earlier_ns; __entry->address = record->address;
		       __entry->pgoff = record->pgoff; __entry->pfn = record->pfn;
		       __entry->inode = record->inode; __entry->dev = record->dev;
		       __entry->flags = record->flags; __entry->result = record->result;
		       __entry->op = record->op; __entry->class = record->class;
		       __entry->order = record->order;),
	TP_printk(
		"class=%s op=%s duration_ns=%llu address=0x%llx pgoff=%llu pfn=0x%llx order=%u dev=%u:%u inode=%llu flags=0x%x result=0x%x start_ns=%llu earlier_ns=%llu",
		__print_symbolic(__entry->class,
				 /* No class has the last number: a list must not end in a comma. */
				 PFSTAT_CLASSES(TRACE_CLASS_SYMBOL){ 0xff, "?" }),
		__print_symbolic(__entry->op, { PFSTAT_OP_FAULT, "fault" },
				 { PFSTAT_OP_MAP_PAGES, "map_pages" },
				 { PFSTAT_OP_HUGE_FAULT, "huge_fault" },
				 { PFSTAT_OP_PAGE_MKWRITE, "page_mkwrite" },
				 { PFSTAT_OP_PFN_MKWRITE, "pfn_mkwrite" }),
		__entry->duration_ns, __entry->address, __entry->pgoff, __entry->pfn,
		__entry->order, __entry->dev >> 20, __entry->dev & 0xfffff, __entry->inode,
		__entry->flags, __entry->result, __entry->start_ns, __entry->earlier_ns));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
