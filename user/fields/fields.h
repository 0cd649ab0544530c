/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One row for each field of a struct: key, type, offset and description. The JSON of an object and
 * its entry in the JSON schema are both made from the rows, so they cannot differ. The rows are
 * beside the struct, or beside the printer if a field is computed.
 */
#ifndef PFSTAT_USER_FIELDS_H
#define PFSTAT_USER_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

struct report;

/* The reader takes the width of a number from the struct: 8 to 64 bits. */
enum field_type {
	FIELD_COUNT,
	FIELD_NONZERO, /* a count: 0 is null */
	FIELD_KNOWN,   /* a count: COUNT_NA is null */
	FIELD_SIGNED,  /* int64_t */
	FIELD_WIDE,    /* 64 bits: a string of digits above the integers of JSON */
	FIELD_ADDRESS, /* a count, in hexadecimal as a string */
	FIELD_REAL,    /* double: NAN is null */
	FIELD_FLAG,    /* bool */
	FIELD_WORD,    /* index in words */
	FIELD_TEXT,    /* array of char: "" is null */
	FIELD_NAME,    /* array of char that is never "" */
	FIELD_STRING,  /* pointer to char that is never NULL or "" */
	FIELD_POINTER, /* pointer to char: NULL and "" are null */
	FIELD_OBJECT,  /* struct with rows of its own */
	FIELD_ROWS,    /* pointer to structs, whose number is at nr_offset */
	FIELD_ARRAY,   /* array of structs, whose number is at nr_offset */
	FIELD_MADE,    /* made by a function */
};

struct field {
	const char *key;
	enum field_type type;
	unsigned int offset, bytes;
	const char *about; /* description in the schema, or NULL */

	uint32_t needs; /* 1 << enum bpf_hook: null without all of these hooks */
	/* Null if it returns false. */
	bool (*known)(const struct report *run, const void *object);

	const struct fields *of; /* rows of an object, or of each object in a list */
	unsigned int nr_offset, nr_bytes;

	const char *const *words; /* the schema lists them, NULL is skipped */
	unsigned int nr_words;

	json_t *(*make)(const struct report *run, const void *object);
	const char *definition; /* in the schema, of what make() returns; NULL: a string */
	bool or_null;		/* make() may return null, and the definition has no null */
};

/* The rows of a struct. Before them, its object may have one key for each of nr_words words. */
struct fields {
	const char *name, *about; /* definition in the schema */
	unsigned int bytes, nr;
	const struct field *rows;

	unsigned int nr_words;
	const char *(*word)(unsigned int i);
	json_t *(*each)(const struct report *run, const void *object, unsigned int i);
	const char *definition; /* in the schema, of what each() returns */
};

/* What is printed depends on the hooks of the run, as 1 << enum bpf_hook. */
struct fields_run {
	const struct report *report;
	uint32_t hooks;
};

#define FIELD_SIZE(tag, member) sizeof(((struct tag *)0)->member)
/* @type: without FIELD_. Further members of struct field follow the description. */
#define FIELD_AS(key_, type_, tag, member, ...)   \
	{ .key = (key_),                          \
	  .type = FIELD_##type_,                  \
	  .offset = offsetof(struct tag, member), \
	  .bytes = FIELD_SIZE(tag, member),       \
	  .about = __VA_ARGS__ }
#define FIELD(type, tag, member, ...) FIELD_AS(#member, type, tag, member, __VA_ARGS__)
#define FIELD_NR(tag, member) \
	.nr_offset = offsetof(struct tag, member), .nr_bytes = FIELD_SIZE(tag, member)
#define FIELD_WORDS(names) .words = (names), .nr_words = ARRAY_SIZE(names)
/* Of the whole struct: its type is MADE or OBJECT. */
#define FIELD_OF_ALL(key_, type_, ...) \
	{ .key = (key_), .type = FIELD_##type_, .about = __VA_ARGS__ }
/* Defines a function for known() or make(). @expression: of @run, and of the struct as @it */
#define FIELD_FUNCTION(type, name, tag, expression)                                            \
	static type name(const struct report *run __attribute__((unused)), const void *object) \
	{                                                                                      \
		const struct tag *it __attribute__((unused)) = object;                         \
		return expression;                                                             \
	}
#define FIELDS(name_, about_, tag, rows_) \
	{ .name = (name_),                \
	  .about = (about_),              \
	  .bytes = sizeof(struct tag),    \
	  .nr = ARRAY_SIZE(rows_),        \
	  .rows = (rows_) }

/* A COUNT, FLAG or ADDRESS, of 8 to 64 bits. */
uint64_t field_number(const struct field *field, const void *object);
/* Returns the object in JSON, with its keys in the order of the rows. NULL: no memory. */
json_t *fields_json(const struct fields *fields, const struct fields_run *run, const void *object);
json_t *fields_json_list(const struct fields *fields, const struct fields_run *run,
			 const void *objects, size_t nr);
/* Adds the definition, and all definitions it refers to, to @definitions. Returns 0 or -ENOMEM. */
int fields_define(const struct fields *fields, json_t *definitions);

#endif
