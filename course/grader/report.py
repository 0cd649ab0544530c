# SPDX-License-Identifier: GPL-2.0-only
"""What a program can say about a report: whether something is missing. A person reads the rest."""
import re

from .questions import Wrong

LEAST_WORDS = 250


def grade_report(marks, box, points, topics):
    """POINTS in three equal parts: it is there, has enough text, and mentions each of TOPICS."""
    path = box.home / "report.rst"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if not text:
        raise Wrong("there is no report.rst")
    if "TODO" in text:
        raise Wrong(f"the report still has TODO {text.count('TODO')} times")
    words = len(re.findall(r"[A-Za-z]{2,}", text))
    missing = [topic for topic in topics if topic not in text]
    marks.check(points // 3, True, "")
    marks.check(points // 3, words >= LEAST_WORDS,
                f"the report has {words} words; explain what you see in at least {LEAST_WORDS}")
    marks.check(points - points // 3 * 2, not missing,
                f"the report does not mention {', '.join(missing)}")
