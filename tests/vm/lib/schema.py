# SPDX-License-Identifier: GPL-2.0-only
"""Checks JSON against a schema. jsonschema takes twenty times as long, which was a seventh of the
time for all tests in an emulated VM. This checker knows the keywords in the project's schemas, and
refuses others."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}
COMMENTS = {"description", "title", "$schema", "$defs"}


def compiled(schema):
    """A function of a value: None, or a sentence about the first error."""
    known = {}

    def named(reference):
        if reference not in known:
            known[reference] = None     # until it is made: a schema may refer to itself
            known[reference] = check_of(schema["$defs"][reference.removeprefix("#/$defs/")])
        return lambda value: known[reference](value)

    def check_of(part):
        checks = [MAKERS[word](part, argument) for word, argument in part.items()
                  if word not in COMMENTS]

        def check(value):
            for one in checks:
                error = one(value)
                if error:
                    return error
            return None
        return checks[0] if len(checks) == 1 else check

    def of_type(_, names):
        names = [names] if isinstance(names, str) else names
        classes = [TYPES[name] for name in names]

        def check(value):
            if isinstance(value, bool) and "boolean" not in names:
                return f"{value!r} is not of type {names}"
            return None if any(isinstance(value, one) for one in classes) else \
                f"{value!r} is not of type {names}"
        return check

    def of_properties(part, properties):
        checks = {name: check_of(one) for name, one in properties.items()}
        others = part.get("additionalProperties", True)
        if isinstance(others, dict):
            others = check_of(others)

        def check(value):
            if not isinstance(value, dict):
                return None
            for name, one in value.items():
                found = checks.get(name, others)
                if found is True:
                    continue
                error = found(one) if found else "it is not in the schema"
                if error:
                    return f"{name}: {error}"
            return None
        return check

    def of_additional(part, others):
        return of_properties({"additionalProperties": others}, {}) if "properties" not in part \
            else lambda value: None

    def of_items(_, item):
        check_item = check_of(item)

        def check(value):
            for number, one in enumerate(value if isinstance(value, list) else ()):
                error = check_item(one)
                if error:
                    return f"[{number}]: {error}"
            return None
        return check

    def of_one(_, parts):
        checks = [check_of(one) for one in parts]

        def check(value):
            errors = [error for error in (one(value) for one in checks) if error]
            return None if len(errors) == len(checks) - 1 else \
                f"it is {len(checks) - len(errors)} of oneOf: {errors}"
        return check

    def of_required(_, names):
        return lambda value: next((f"{name} is missing" for name in names if name not in value),
                                  None) if isinstance(value, dict) else None

    def number(value):
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    MAKERS = {
        "$ref": lambda _, reference: named(reference),
        "type": of_type,
        "properties": of_properties,
        "additionalProperties": of_additional,
        "items": of_items,
        "oneOf": of_one,
        "required": of_required,
        "enum": lambda _, values: lambda value: None if value in values else
            f"{value!r} is not one of {values}",
        "minimum": lambda _, least: lambda value: f"{value} is less than {least}"
            if number(value) and value < least else None,
        "maximum": lambda _, most: lambda value: f"{value} is more than {most}"
            if number(value) and value > most else None,
        "minItems": lambda _, least: lambda value: "it has too few items"
            if isinstance(value, list) and len(value) < least else None,
        "maxItems": lambda _, most: lambda value: "it has too many items"
            if isinstance(value, list) and len(value) > most else None,
    }
    return check_of(schema)
