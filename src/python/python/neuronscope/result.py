"""Results: small objects whose attributes have the names of the report's columns."""

from __future__ import annotations

import html
import json
import re

from ._core import Columns
from .calls import flags, run

_FRAME = '<iframe sandbox="allow-scripts allow-popups" style="width:100%;height:{height}px;border:0" srcdoc="{document}"></iframe>'


# Rows of a table that a notebook shows.
_SHOWN = 100


def _shown(value):
    """A value in a cell."""
    return "" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)


class Record:
    """An object of JSON. Its keys are attributes: ``report.throughput_avg``, and keys: ``report["throughput_avg"]``."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        raise AttributeError(f"{type(self).__name__} has no {name}; it has {', '.join(vars(self))}")

    def __getitem__(self, name):
        return vars(self)[name]

    def __eq__(self, other):
        return isinstance(other, Record) and vars(self) == vars(other)

    __hash__ = None

    def keys(self):
        return vars(self).keys()

    def to_dict(self):
        return dict(vars(self))

    def table(self, name):
        """One of its lists of objects as a table: ``fit("llama-2-7b").table("rows")``."""
        return Table(self[name])

    def __repr__(self):
        shown = ", ".join(f"{name}={value!r}" for name, value in list(vars(self).items())[:8])
        return f"{type(self).__name__}({shown}{', ...' if len(vars(self)) > 8 else ''})"


class Table:
    """Rows with the same columns, which do not change: a sequence of records.

    It is no list, because pyarrow and polars read a list as rows of their own kind before they ask for its columns. The rows and the columns are
    made of a command's JSON, each when somebody asks for them.
    """

    _record = Record
    #: What the reader noticed in the profile that the rows are about: cut, damaged or left out; each with its ``text``.
    remarks = ()

    def __init__(self, rows=()):
        """``rows`` are records, dictionaries, or the bytes of a JSON list of objects."""
        self._text = rows if isinstance(rows, bytes) else None
        self._records = None if self._text is not None else [self._as_record(row) for row in rows]
        self._columns = None

    def _as_record(self, row):
        return self._record(row) if isinstance(row, dict) else row

    @property
    def _rows(self):
        if self._records is None:
            self._records = [self._as_record(row) for row in json.loads(self._text)]
        return self._records

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return iter(self._rows)

    def __reversed__(self):
        return reversed(self._rows)

    def __contains__(self, row):
        return row in self._rows

    def __getitem__(self, n):
        return Table(self._rows[n]) if isinstance(n, slice) else self._rows[n]

    def __eq__(self, other):
        return self._rows == (other._rows if isinstance(other, Table) else other) if isinstance(other, (Table, list)) else NotImplemented

    __hash__ = None

    def __repr__(self):
        return repr(self._rows)

    def _repr_html_(self):
        """The first rows, as a notebook shows them."""
        rows = [row.to_dict() if isinstance(row, Record) else row for row in self._rows[:_SHOWN]]
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = lambda values, of: "".join(f"<{of}>{html.escape(_shown(value))}</{of}>" for value in values)  # noqa: E731
        body = "".join(f"<tr>{cells([row.get(name) for name in names], 'td')}</tr>" for row in rows)
        rest = f"<caption>{_SHOWN} of {len(self)} rows</caption>" if len(self) > _SHOWN else ""
        return f"<table>{rest}<thead><tr>{cells(names, 'th')}</tr></thead><tbody>{body}</tbody></table>"

    def __reduce__(self):
        return type(self), (self._text or self.to_dicts(),)

    def to_dicts(self):
        return [row.to_dict() if isinstance(row, Record) else dict(row) for row in self]

    @property
    def columns(self):
        """The columns in memory: ``names``, and Arrow's PyCapsule interface. They are made once and are shared with whoever takes them."""
        if self._columns is None:
            self._columns = Columns(self._text or json.dumps(self.to_dicts()).encode())
        return self._columns

    def __arrow_c_stream__(self, requested_schema=None):
        return self.columns.__arrow_c_stream__(requested_schema)

    def to_numpy(self):
        """A dictionary of arrays by column. Numbers without gaps are the column itself, read-only; gaps become NaN, and other values objects, in
        copies."""
        import numpy

        numbers = {name: self.columns.numbers(name) for name in self.columns.names}
        return {name: numpy.asarray(found) if found is not None else _copy(self, name) for name, found in numbers.items()}

    def to_pandas(self):
        """A ``pandas.DataFrame``; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.to_dicts())

    def to_arrow(self):
        """A ``pyarrow.Table``; pyarrow must be installed."""
        import pyarrow

        return pyarrow.table(self)


def _copy(table, name):
    import numpy

    values = [row.to_dict().get(name) for row in table]
    if all(value is None or type(value) in (int, float) for value in values):
        return numpy.array([numpy.nan if value is None else value for value in values], dtype=float)
    if all(type(value) is bool for value in values):
        return numpy.array(values)
    found = numpy.empty(len(values), dtype=object)
    for n, value in enumerate(values):
        found[n] = value
    return found


class _Document:
    """A result that is also a page: one HTML file with everything in it."""

    def _html(self):
        raise NotImplementedError

    def to_html(self):
        return self._html()

    def save_html(self, path):
        """Writes the page, which opens without a network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._html())

    def link(self, base=None):
        """The address that shows the same result on the page of neuronscope; ``None`` where a link cannot hold it."""
        found = re.search(r'<a href="([^"]*)">Open it live', self._html())
        if found is None:
            return None
        address = html.unescape(found.group(1))
        return address if base is None else base.split("#")[0] + address[address.index("#") :]

    def _repr_html_(self):
        return _FRAME.format(height=640, document=html.escape(self._html(), quote=True))


class Report(Record):
    """One configuration of a benchmark."""


class Reports(Table, _Document):
    """The reports of a benchmark, in the order in which they ran."""

    _record = Report
    _repr_html_ = _Document._repr_html_

    def __init__(self, rows, page=None):
        super().__init__(rows)
        self._page = page

    def _file(self):
        return {"reports.json": json.dumps(self.to_dicts()).encode()}

    def _html(self):
        if self._page is None:
            _, written = run(["report", "reports.json", "--html=page.html", "--json"], files=self._file(), wanted=["page.html"])
            self._page = written["page.html"]
        return self._page.decode()

    def to_csv(self):
        """NeuronPerf's columns as CSV."""
        return run(["report", "reports.json", "--csv"], files=self._file())[0].decode()

    def __str__(self):
        return run(["report", "reports.json"], files=self._file())[0].decode().rstrip("\n") if self else "no reports"

    __repr__ = __str__

    def __reduce__(self):
        return type(self), (self.to_dicts(), self._page)


class Profile(_Document):
    """A profile: of a simulated execution, or of files. It stays open in its own thread; questions do not read it again."""

    def __init__(self, shell, args, source, files, values):
        self._shell, self._args, self._source, self._files, self._values = shell, args, source, files, values

    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"Profile has no {name}; its figures are {', '.join(values)}")

    def __reduce__(self):
        return _again, (self._args, self._source, self._files)

    def _run(self, *args, **how):
        return run([*self._args, *args], files=self._files, shell=self._shell, **how)

    def to_dict(self):
        return dict(self._values)

    def summary(self):
        """Metrics, bounds and findings of a simulated execution; sentences about any other profile."""
        found = json.loads(self._run("--summary", "--json")[0])
        if isinstance(found, list):
            return found
        return found["rows"] if found.keys() == {"remarks", "rows"} else Record(found)

    def _ask(self, command, *args):
        return rows_of(run([command, *self._source, *args, "--json"], files=self._files, shell=self._shell)[0])

    def operators(self, **options):
        """Time by operator, as ``neuronscope operators`` lists it."""
        return self._table("operators", **options)

    def query(self, text):
        """The answer to a question in the language of docs/query.md."""
        return self._ask("query", text)

    def idle(self, **options):
        return self._table("idle", **options)

    def critical_path(self, **options):
        return self._table("critical-path", **options)

    def flame(self, **options):
        return self._table("flame", **options)

    def counters(self, **options):
        return self._table("counters", **options)

    def _table(self, command, **options):
        return self._ask(command, *flags(options))

    def save(self, path, format="chrome"):
        """Writes the timeline: chrome, perfetto, speedscope, csv, xplane, neuron-plugin or tensorboard."""
        self._run(f"--output={path}", f"--export={format}", "--json")

    def _html(self):
        return self._run("--html=page.html", "--json", wanted=["page.html"])[1]["page.html"].decode()

    def close(self):
        self._shell.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<Profile of {' '.join(self._source)}>"


def rows_of(text):
    """What a command printed: a list is a table, whose JSON is read when it is needed."""
    if text.lstrip().startswith(b"["):
        return Table(text)
    found = json.loads(text)
    if found.keys() != {"remarks", "rows"}:
        return Record(found)
    table = Table(found["rows"])
    table.remarks = found["remarks"]
    return table


def _again(args, source, files):
    from .api import _profile

    return _profile(args, source, files)
