# SPDX-License-Identifier: GPL-2.0-only
"""The Parquet dataset: the rows are pfdrive's rows, and each recording is there once."""
import pathlib
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pfstat
from conftest import BUILD
from pfstat import columns, dataset
from test_module import cell_of, csv_of, json_of

DOCUMENT = pathlib.Path(__file__).parents[2] / "Documentation/formats/dataset.rst"


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def rows_of(folder, table):
    path, = (folder / table).rglob("*.parquet")
    return pq.ParquetFile(path).read()


def test_rows_and_folders_are_those_of_the_recording(recorded, tmp_path):
    pfstat.to_parquet(tmp_path, recorded, release="2.1")
    environment = json_of(recorded)["environment"]
    place = f"host={environment['host']}/day={environment['started'][:10]}/"
    files = files_of(tmp_path)
    assert {name.split("/")[0] for name in files} == \
        {"environment", "faults", "mappings", "requests"}
    assert all(place in name and name.endswith(".parquet") for name in files)
    for table in ("faults", "mappings"):
        found, rows = rows_of(tmp_path, table), csv_of(recorded, table)
        assert found.num_rows == len(rows) > 0
        for column in columns.columns_of(table):
            cells = ["" if cell is None else cell_of(cell, column.kind)
                     for cell in found[column.name].to_pylist()]
            assert cells == [row[column.name] for row in rows], column.name
    row, = rows_of(tmp_path, "environment").to_pylist()
    assert (row["source"], row["release"], row["requests"]) == ("perf", "2.1", None)
    assert row["faults"] == len(csv_of(recorded))


def test_a_recording_is_in_the_dataset_once(recorded, tmp_path):
    for host in ("a", "a"):
        pfstat.to_parquet(tmp_path, recorded, host=host)
    assert len(files_of(tmp_path)) == 4


def test_an_error_leaves_no_file(made, recorded, tmp_path, monkeypatch):
    with pytest.raises(pfstat.PfdriveError, match="add host=NAME"):
        pfstat.to_parquet(tmp_path, made)
    monkeypatch.setattr(dataset, "write_environment", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pfstat.to_parquet(tmp_path, recorded)
    assert not files_of(tmp_path)


def test_requests_and_shielded_names_are_read(made, tmp_path):
    with dataset.Files(tmp_path, "h/1", "2026-01-31", "made") as files, \
            dataset.tqdm(disable=True) as bar:
        rows = dataset.write_rows(files, "requests", made, bar)
        assert dataset.write_rows(files, "faults", made, bar) == len(csv_of(made))
        files.commit()
    assert rows == len(csv_of(made, "requests")) > 0
    names = pa.array([b"'=1", b"\xff", b"", b"'=1"], pa.binary())
    assert dataset.texts_of(names, columns.Column("thread", "word", True)).to_pylist() == \
        ["=1", "\\xff", None, "=1"]
    assert duckdb.sql(f"SELECT DISTINCT host FROM read_parquet('{tmp_path}/requests/*/*/*.parquet', "
                      "hive_partitioning = true)").fetchall() == [("h/1",)]


def test_the_document_has_the_columns():
    """It lists those of the environment, in order: pfdrive prints the others."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"version {columns.SCHEMA_VERSION}" in text
    words = " ".join(f"``{column.name}``" for column in columns.ENVIRONMENT)
    assert words in " ".join(text.replace(",", "").split())


def test_memory_does_not_grow_with_the_faults(tmp_path):
    """Rows that stayed in memory would take some 100 bytes each."""
    script = "import resource, sys\nfrom pfstat import dataset\n" \
        "with dataset.Files(sys.argv[2], 'h', '2026-01-31', 'm') as files, " \
        "dataset.tqdm(disable=True) as bar:\n" \
        "    print(dataset.write_rows(files, 'faults', sys.argv[1], bar))\n" \
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    peaks = []
    for millions in (3, 6):     # the buffers grow for the first two
        path = tmp_path / f"{millions}.pfs"
        subprocess.run([BUILD / "make_recording", path, str(millions)], check=True)
        rows, peak = subprocess.run([sys.executable, "-c", script, path, tmp_path], check=True,
                                    capture_output=True, text=True).stdout.split()
        assert int(rows) == millions * 1_000_000
        peaks.append(int(peak))
    # On a busy machine Arrow gives memory back later.
    assert 1024 * (peaks[1] - peaks[0]) < 64 * 3_000_000, peaks
