# SPDX-License-Identifier: GPL-2.0-only
"""The schema checker used in the VM tests."""
import collections
import json
import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "tests/vm/lib"))

import schema   # noqa: E402

PERSON = {
    "type": "object", "required": ["name"], "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "age": {"type": ["integer", "null"], "minimum": 0},
        "pets": {"type": "array", "items": {"enum": ["cat", "dog"]}, "maxItems": 2},
        "home": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/place"}]},
        "friend": {"$ref": "#/$defs/friend"},
    },
    "$defs": {
        "place": {"type": "object", "additionalProperties": {"type": "number"}},
        "friend": {"type": "object", "properties": {"friend": {"$ref": "#/$defs/friend"}},
                   "additionalProperties": False},
    },
}


class Schema(unittest.TestCase):
    """Values that it accepts and refuses."""
    def setUp(self):
        self.check = schema.compiled(PERSON)

    def test_values_that_match_are_accepted(self):
        for value in ({"name": "a"}, {"name": "a", "age": None, "pets": ["cat", "dog"]},
                      {"name": "a", "home": "here"}, {"name": "a", "home": {"x": 1, "y": 2.5}},
                      {"name": "a", "friend": {"friend": {"friend": {}}}}):
            self.assertIsNone(self.check(value))

    def test_errors_are_named(self):
        for value, words in (
                ([], "is not of type"),
                ({}, "name is missing"),
                ({"name": 1}, "name: 1 is not of type"),
                ({"name": "a", "age": True}, "age: True is not of type"),
                ({"name": "a", "age": 1.5}, "age: 1.5 is not of type"),
                ({"name": "a", "age": -1}, "age: -1 is less than 0"),
                ({"name": "a", "pets": ["cow"]}, "pets: [0]: 'cow' is not one of"),
                ({"name": "a", "pets": ["cat"] * 3}, "pets: it has too many items"),
                ({"name": "a", "home": 1}, "home: it is 0 of oneOf"),
                ({"name": "a", "home": {"x": "1"}}, "home: it is 0 of oneOf"),
                ({"name": "a", "friend": {"friend": {"foe": 1}}}, "foe: it is not in the schema"),
                ({"name": "a", "more": 1}, "more: it is not in the schema")):
            self.assertIn(words, self.check(value) or "")

    def test_an_unknown_keyword_is_refused(self):
        with self.assertRaises(KeyError):
            schema.compiled({"type": "object", "patternProperties": {}})

    def test_it_knows_all_keywords_of_the_projects_schemas(self):
        for path in (TOP / "Documentation/formats").glob("*.schema*.json"):
            text = json.loads(path.read_text())
            # A part by hand refers to definitions that the build adds.
            text["$defs"] = collections.defaultdict(dict, text.get("$defs", {}))
            schema.compiled(text)({})
