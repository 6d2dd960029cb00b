"""Tables are sequences of records, and columns that other libraries take without a copy."""

import json
import pickle

import numpy
import pytest

import neuronscope
from neuronscope.result import Record, Table

ROWS = [
    {"name": "a", "time": 0.1, "count": 3, "ok": True, "parts": [1, 2], "at": {"row": 1, "of": "x"}},
    {"name": "b\n", "time": 2, "count": -(2**63), "ok": None, "parts": [], "at": None, "late": 1e308},
    {"name": None, "time": 1.7976931348623157e308, "count": 2**63 - 1, "parts": None, "at": {"of": "y", "more": []}, "late": 5e-324},
]


def plain(table):
    """The rows of a pyarrow.Table without what they lack, which a column has as null."""
    without = lambda value: {name: without(of) for name, of in value.items() if of is not None} if isinstance(value, dict) else value  # noqa: E731
    return [without(row) for row in table.to_pylist()]


def test_a_table_is_a_sequence_of_records():
    table = Table(json.dumps(ROWS).encode())
    assert table == Table(ROWS) and table == [Record(row) for row in ROWS] and table != "rows"
    assert len(table) == 3 and table[-1].count == 2**63 - 1 and table[1:].to_dicts() == ROWS[1:]
    assert [row["name"] for row in table] == ["a", "b\n", None] and table[0] in table and next(reversed(table)) == table[2]
    assert pickle.loads(pickle.dumps(table)) == table and repr(table[:1]) == repr([Record(ROWS[0])])
    assert neuronscope.fit("llama-2-7b").table("rows")[0].tp >= 1


def test_numbers_are_the_columns_themselves():
    table = Table(ROWS)
    arrays = table.to_numpy()
    assert list(arrays) == ["name", "time", "count", "ok", "parts", "at", "late"]
    for name in ("time", "count"):
        assert arrays[name].tolist() == [row[name] for row in ROWS]
        assert not arrays[name].flags.owndata and not arrays[name].flags.writeable
        again = numpy.asarray(table.columns.numbers(name))
        assert again.ctypes.data == arrays[name].ctypes.data
    assert numpy.isnan(arrays["late"][0]) and arrays["late"].tolist()[1:] == [1e308, 5e-324]
    assert arrays["parts"].tolist() == [[1, 2], [], None] and arrays["ok"].tolist() == [True, None, None]
    # The arrays keep the memory of their columns.
    time = arrays["time"]
    del table, arrays, again
    assert time.tolist() == [row["time"] for row in ROWS]


def test_what_is_no_table_says_why():
    for rows, said in [
        (b"{}", "the table is no list of JSON"),
        (b"[1]", "the table has no columns: .*expected a row, which is an object"),
        (b'[{"a": nan}]', "the table is no list of JSON"),
    ]:
        with pytest.raises(ValueError, match=said):
            Table(rows).columns
    assert Table().columns.names == [] and len(Table([{}, {}]).columns) == 0


def test_pyarrow_takes_the_memory_of_the_columns():
    pyarrow = pytest.importorskip("pyarrow")
    operators = neuronscope.profile("nn", workflow="trace").operators()
    taken, arrays = pyarrow.table(operators), operators.to_numpy()
    assert taken.to_pylist() == operators.to_dicts()
    for name in ("self_ns", "mean_ns"):
        (chunk,) = taken.column(name).chunks
        assert chunk.buffers()[1].address == arrays[name].ctypes.data
        assert chunk.to_numpy(zero_copy_only=True).ctypes.data == arrays[name].ctypes.data
    # Texts have no form in NumPy; two takers have the same memory.
    first, second = (pyarrow.table(operators).column("name").chunk(0).buffers() for _ in range(2))
    assert [buffer.address for buffer in first if buffer] == [buffer.address for buffer in second if buffer]
    taken.validate(full=True)
    del operators, arrays
    assert taken.column("self_ns").to_pylist()


def test_every_value_of_json_has_a_column():
    pyarrow = pytest.importorskip("pyarrow")
    taken = pyarrow.table(Table(ROWS))
    taken.validate(full=True)
    expected = [{name: value for name, value in row.items() if value is not None} for row in ROWS]
    assert plain(taken) == expected
    kinds = [str(field.type) for field in taken.schema]
    assert kinds == ["string", "double", "int64", "bool", "list<item: int64>", "struct<row: int64, of: string, more: list<item: null>>", "double"]
    mixed = pyarrow.table(Table([{"a": 1}, {"a": "x"}, {"a": [1]}]))
    assert mixed.column("a").to_pylist() == ["1", '"x"', "[1]"]
    empty = pyarrow.table(Table([{"a": {}}, {"a": None}]))
    empty.validate(full=True)
    assert empty.column("a").to_pylist() == [{}, None] and pyarrow.table(Table()).shape == (0, 0)


def test_reports_are_columns_too():
    pyarrow = pytest.importorskip("pyarrow")
    reports = neuronscope.benchmark("nn", n_models=[1, 2], workers_per_model=1, duration=1)
    assert pyarrow.table(reports).to_pylist() == reports.to_dicts() == reports.to_arrow().to_pylist()
    assert reports.to_numpy()["n_models"].tolist() == [1, 2]


def test_polars_takes_the_memory_of_the_columns():
    polars = pytest.importorskip("polars")
    operators = neuronscope.profile("nn", workflow="trace").operators()
    frame = polars.DataFrame(operators)
    assert frame.to_dicts() == operators.to_dicts()
    address = operators.to_numpy()["self_ns"].ctypes.data
    assert frame["self_ns"].to_numpy(allow_copy=False).ctypes.data == address


def test_duckdb_reads_a_table():
    duckdb = pytest.importorskip("duckdb")
    operators = neuronscope.profile("nn", workflow="trace").operators()
    assert duckdb.sql("select sum(self_ns) from operators").fetchall() == [(sum(row.self_ns for row in operators),)]
