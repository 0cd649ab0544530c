# SPDX-License-Identifier: GPL-2.0-only
"""pfdrive's output, compared with the module's counts."""
import csv

import pfstat


def test_csv_adds_up_to_the_calls(small_file):
    text = pfstat.run(pfstat.PFDRIVE, "--format", "csv", "--fault-around", "off",
                      small_file).stdout
    rows = list(csv.DictReader(text.splitlines()))
    assert sum(int(row["count"]) for row in rows) == pfstat.stats()["calls"]


def test_pages_touched_do_not_exceed_accesses(small_file):
    run = pfstat.drive("--pattern", f"stride:{pfstat.PAGE}", "--accesses", "10", "--cache", "warm",
                       "--fault-around", "off", small_file)
    assert run["pages_touched"] == 10 == run["calls"]
