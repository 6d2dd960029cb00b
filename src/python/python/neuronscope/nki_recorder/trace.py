"""The instruction list while it grows. docs/formats/nki-list.md describes what `document` returns."""

import opcode
import os
import sys
import time

from . import chips
from .errors import KernelError

VERSION = 1
# Frames of this package are not the author's.
OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
# The first of the two instructions of a call, in Python 3.11 alone.
_PRECALL = opcode.opmap.get("PRECALL", -1)


def _function(frame):
    """The function of a frame. A comprehension is one of its own until Python 3.11, and part of the function around it since."""
    while frame.f_code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>"):
        frame = frame.f_back
    return frame.f_code.co_name


class Budget:
    """What a recording may use: instructions, turns of loops, seconds."""

    def __init__(self, instructions=4_000_000, turns=20_000_000, seconds=120.0):
        self.instructions, self.turns, self.seconds = instructions, turns, seconds


class _Table:
    """Rows without repeats: the number of a row is its first place."""

    def __init__(self):
        self.rows, self.places = [], {}

    def place(self, key, row=None):
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = len(self.rows)
            self.rows.append(key if row is None else row)
        return place


class Trace:
    """One recording. `now` is the one that the stubs write to."""

    now = None

    def __init__(self, chip="trn2", budget=None, root="", lnc=1, turns=1):
        self.chip = chips.chip(chip)
        self.chip_name = chip
        self.budget = budget or Budget()
        self.deadline = time.monotonic() + self.budget.seconds
        self.root, self.lnc = root, lnc
        # Turns of a loop whose number is known on the device only.
        self.unknown_turns = turns
        self.dialect, self.kernel, self.results = 2, None, []
        self.programs, self.program = (lnc,), (0,)
        self.code, self.count = [], 0
        self._left = self.budget.turns
        self.files, self.sites, self.loops, self.forms, self.patterns = _Table(), _Table(), _Table(), _Table(), _Table()
        self.dtypes, self.names = _Table(), _Table()
        self.names.place("")
        self._site_of, self._codes, self._adding = {}, [], {}
        self._file_of = {}
        self.storages, self.first, self.last = [], [], []
        # What was found right is not looked at again: operands of an instruction, and how indices select.
        self.right, self.plans, self.transfers, self.kinds = set(), {}, {}, {}
        self.shapes = {}
        # Forms that work on bits.
        self.of_bits = set()
        # Arrays of the author by their tensor; their values are no part of the list.
        self.constants = {}
        self.errors, self.warnings = [], {}
        # Loops that are open: [loop, turn, scope or -1]. The body of the kernel is the first.
        self.scopes = [-1, -1, 0]
        self.stack = [[-1, 0, 0]]
        self.scope = 0
        # HBM tensors of all programs of a grid are the same ones.
        self.shared, self.shared_next = [], 0

    # Places of the author's file.

    def place(self):
        """File and line that run now: `(file, line, function)`, or None outside of a kernel's file."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(OWN):
            frame = frame.f_back
        if frame is None:
            return None
        return self.file(frame.f_code.co_filename), frame.f_lineno, _function(frame)

    def site(self, depth=2):
        frame = sys._getframe(depth)
        code = frame.f_code
        while code.co_filename.startswith(OWN):
            frame = frame.f_back
            code = frame.f_code
        key = (id(code), frame.f_lasti)
        site = self._site_of.get(key)
        if site is None:
            # Since Python 3.11 an instruction is followed by caches (opcode 0), and a frame may stand on one of them.
            raw, at = code.co_code, frame.f_lasti
            while at > 0 and raw[at] == 0:
                at -= 2
            # Python 3.11 makes a call with two instructions, and runs a frequent one with the first of them.
            if raw[at] == _PRECALL:
                at += 4
            first = (id(code), at)
            site = self._site_of.get(first)
            if site is None:
                # The code is kept, so that no other one gets its identity.
                self._codes.append(code)
                site = self._site_of[first] = len(self.sites.rows)
                self.sites.rows.append([self.file(code.co_filename), frame.f_lineno, _function(frame)])
            self._site_of[key] = site
        return site

    def file(self, path):
        known = self._file_of.get(path)
        if known is None:
            near = path
            if self.root and os.path.isabs(path):
                near = os.path.relpath(path, self.root)
                # Where a machine keeps its libraries is no part of a list.
                near = os.path.basename(path) if near.startswith("..") else near.replace(os.sep, "/")
            known = self._file_of[path] = self.files.place(near)
        return known

    # Loops.

    def turns(self, kind, values, trip, site):
        """Yields the values; meanwhile instructions belong to a turn of this loop."""
        loop = self.loops.place((kind, site, trip))
        stack = self.stack
        depth = len(stack)
        frame = [loop, 0, -1]
        try:
            for turn, value in enumerate(values):
                frame[1], frame[2] = turn, -1
                # Loops side by side (zip) end before those that began later.
                stack[depth:] = [frame]
                self.scope = -1
                self._left -= 1
                if self._left & 1023 == 0:
                    self.check_budget()
                yield value
        finally:
            del stack[depth:]
            self.scope = stack[-1][2] if stack else 0

    def open_scope(self):
        """The number of the turn that runs now; it gets a row with its first instruction."""
        stack, at = self.stack, len(self.stack)
        # Most often the innermost loop alone took a turn.
        while stack[at - 1][2] < 0:
            at -= 1
        scope = stack[at - 1][2]
        for frame in stack[at:]:
            self.scopes += (scope, frame[0], frame[1])
            scope = frame[2] = len(self.scopes) // 3 - 1
        self.scope = scope
        return scope

    def check_budget(self):
        if self._left <= 0:
            raise KernelError("budget", f"The kernel's loops take more than {self.budget.turns:,} turns.", "use smaller shapes")
        if self.count >= self.budget.instructions:
            raise KernelError("budget", f"The kernel has more than {self.budget.instructions:,} instructions.", "use smaller shapes")
        if time.monotonic() > self.deadline:
            raise KernelError("budget", f"The recording takes more than {self.budget.seconds:g} s.", "use smaller shapes, or end its loops")

    # Tensors.

    def tensor(self, storage):
        """The row of a tensor: HBM tensors get it with their declaration, tiles with their first instruction."""
        if storage.of is not None and storage.of.id < 0:
            self.tensor(storage.of)
        row = storage.id = len(self.storages)
        if storage.group is not None and storage.group.first < 0:
            storage.group.first = row
        self.storages.append(storage)
        self.first.append(-1)
        self.last.append(-1)
        return row

    def forget(self, storage):
        """Drops a tile that nothing touches any more; only the newest row can go."""
        self.first[storage.id] = self.last[storage.id] = -1
        if storage.id == len(self.storages) - 1:
            self.storages.pop()
            self.first.pop()
            self.last.pop()
            storage.id = -1

    def tensors(self):
        """The columns of the tensors."""
        rows = self.storages
        place = self.dtypes.place
        return {
            "memory": "".join([row.memory for row in rows]),
            "dtype": [place(row.dtype, [str(row.dtype), row.dtype.itemsize]) for row in rows],
            "partitions": [row.partitions for row in rows],
            "elements": [row.elements for row in rows],
            "scope": [row.scope for row in rows],
            "site": [row.site for row in rows],
            "declared": [row.declared for row in rows],
            "first": self.first,
            "last": self.last,
            "group": [-1 if row.group is None else row.group.first for row in rows],
            "of": [-1 if row.of is None else row.of.id for row in rows],
            "address": [row.address for row in rows],
            "bank": [row.bank for row in rows],
            "name": [self.names.place(row.name) for row in rows],
        }

    def pattern(self, key):
        place = self.patterns.places.get(key)
        return self.patterns.place(key) if place is None else place

    # Instructions.

    def form(self, op, roles, writes, args, engine, api):
        """The row of what instructions have in common."""
        key = (op, roles, args, engine, api)
        form = self.forms.places.get(key)
        if form is None:
            row = {"op": op, "api": api, "engine": engine, "writes": writes, "operands": list(roles), "args": dict(args)}
            dynamic = row["args"].pop("dynamic", None)
            if dynamic:
                row["dynamic"] = list(dynamic)
            form = self.forms.place(key, row)
        return form

    def adding(self, form):
        """The form of a product that accumulates, for that of one that does not."""
        other = self._adding.get(form)
        if other is None:
            row = self.forms.rows[form]
            args = {**row["args"], "accumulate": True}
            other = self.form(row["op"], tuple(row["operands"]), row["writes"], tuple(args.items()), row["engine"], row["api"])
            self._adding[form] = other
        return other

    # Remarks.

    def note(self, place):
        return (place or (0, 0, ""))[:2]

    def error(self, error, place=None):
        file, line = self.note(place or self.place())
        # One cause makes many errors at one line.
        if any(one["file"] == file and one["line"] == line and one["kind"] == error.kind for one in self.errors):
            return
        self.errors.append({"kind": error.kind, "code": error.code, "file": file, "line": line, "message": error.message, "fix": error.fix, "instruction": self.count})
        if len(self.errors) >= 20:
            raise error

    def warn(self, kind, message, place=None):
        file, line = self.note(place or self.place())
        row = self.warnings.setdefault((kind, file, line, message), {"kind": kind, "file": file, "line": line, "message": message, "count": 0})
        row["count"] += 1

    def document(self):
        programs = 1
        for size in self.programs:
            programs *= size
        return {
            "format": "neuronscope-nki-list",
            "version": VERSION,
            "builds": not self.errors,
            "chip": self.chip_name,
            "dialect": self.dialect,
            "lnc": self.lnc,
            "programs": programs,
            "kernel": self.kernel,
            "results": self.results,
            "files": self.files.rows,
            "sites": self.sites.rows,
            "loops": [list(row) for row in self.loops.rows],
            "scopes": self.scopes,
            "tensors": self.tensors(),
            "names": self.names.rows,
            "dtypes": self.dtypes.rows,
            "shapes": self.shapes,
            "patterns": [list(row) for row in self.patterns.rows],
            "forms": self.forms.rows,
            "count": self.count,
            "instructions": self.code,
            "errors": self.errors,
            "warnings": list(self.warnings.values()),
        }


def now():
    """The recording that runs; outside of a kernel there is none."""
    if Trace.now is None or Trace.now.kernel is None:
        raise KernelError("python", "A call of nki stands outside of a kernel.", "call it inside a function with @nki.jit")
    return Trace.now
