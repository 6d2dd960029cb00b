"""Timers that keep every start and end."""

from __future__ import annotations

import time

_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


def timestamp_convert(timestamp, from_unit="s", to_unit="ms"):
    """A time in another unit: ns, us, ms or s."""
    return timestamp * (_factor(to_unit) / _factor(from_unit))


def _factor(unit):
    if unit not in _PER_SECOND:
        raise ValueError(f"the unit {unit!r} does not exist; choose from {', '.join(_PER_SECOND)}")
    return _PER_SECOND[unit]


class Timer:
    """``with timer: ...`` adds one start and end; so do ``start()`` and ``stop()``. ``next()`` does both."""

    def __init__(self, timestamps=(), clock=None):
        self._pairs = [tuple(pair) for pair in timestamps]
        self._began = None
        # Looked up at each reading: a script may have the device's clock.
        self._now = clock or (lambda: time.perf_counter())

    def start(self):
        self._began = self._now()

    def stop(self):
        if self._began is None:
            raise RuntimeError("the timer does not run; call start() first")
        self._pairs.append((self._began, self._now()))
        self._began = None

    def next(self):
        """The end of one interval is the start of another."""
        if self._began is not None:
            self.stop()
            self._began = self._pairs[-1][1]
        else:
            self.start()

    def reset(self):
        self._pairs, self._began = [], None

    def insert(self, pair):
        """Adds a start and an end, in seconds."""
        self._pairs.append(tuple(pair))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def __len__(self):
        return len(self._pairs)

    def timestamps(self, unit="ms"):
        factor = _factor(unit)
        return [(begin * factor, end * factor) for begin, end in self._pairs]

    def durations(self, unit="ms"):
        return [end - begin for begin, end in self.timestamps(unit)]

    def total_duration(self, unit="ms"):
        return sum(self.durations(unit))

    def avg(self, unit="ms"):
        return self.total_duration(unit) / len(self._pairs) if self._pairs else 0.0

    def pairs(self):
        """Starts and ends in seconds."""
        return [list(pair) for pair in self._pairs]

    def __repr__(self):
        return f"Timer({len(self)} intervals, {self.avg():.3f} ms on average)"
