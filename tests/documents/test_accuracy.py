# SPDX-License-Identifier: GPL-2.0-only
"""The page about the outcomes of all cases agrees with the table of cases and with the rules. Only
make complaints changes the outcomes."""
import accuracy
from cases import CASES

PAGE = accuracy.PAGE.read_text(encoding="utf-8")
MATRIX = accuracy.Matrix(PAGE)


def test_the_page_has_each_case_with_its_truth_in_each_condition():
    assert PAGE.partition(accuracy.START)[1:] == (accuracy.START, MATRIX.tables().removeprefix(
        accuracy.START)), "make complaints CASES=page writes it"


def test_each_cell_has_an_outcome_and_a_rule_that_exists():
    rules = accuracy.rules() | {"none"}
    wrong = [(key, cell) for key, cell in MATRIX.cells.items()
             if cell not in (accuracy.NOT_JUDGED, accuracy.NEEDS_LAB) and not (
                 accuracy.CELL.fullmatch(cell) and accuracy.CELL.fullmatch(cell)[2] in rules)]
    assert MATRIX.cells and not wrong


def test_each_case_states_its_truth_and_names_rules_that_exist():
    rules = accuracy.rules()
    for case in CASES:
        assert case.truth.endswith(".") and case.counts, case.name
        assert rules.issuperset((*case.rules, *(case.perf or ()))), case.name
