"""The clock of a script that runs on the simulated device.

A script under ``python -m neuronscope`` reads this clock where it asks for the time. Simulated device time is added to it, and the time
that the simulation itself takes is left out.
"""

from __future__ import annotations

import contextlib
import time as _time

MODES = ("both", "simulated", "measured")

# The clock of this machine, also where a script has another one.
measured = _time.perf_counter
_perf_counter_ns = _time.perf_counter_ns
_time_ns = _time.time_ns
_sleep = _time.sleep


class Clock:
    """``simulated``: device time and sleeps only. ``measured``: the time of this machine. ``both``: host time and device time."""

    def __init__(self, mode="both"):
        if mode not in MODES:
            raise ValueError(f"the clock {mode!r} does not exist; choose from {', '.join(MODES)}")
        self.mode = mode
        self.device_ns = 0
        self._start = _perf_counter_ns()
        self._epoch = _time_ns()
        self._paused = 0
        self._pauses = 0
        self._pause_began = 0

    def passed_ns(self):
        host = (self._pause_began if self._pauses else _perf_counter_ns()) - self._start - self._paused
        return {"simulated": self.device_ns, "measured": _perf_counter_ns() - self._start, "both": host + self.device_ns}[self.mode]

    def perf_counter_ns(self):
        return self._start + self.passed_ns()

    def time_ns(self):
        return self._epoch + self.passed_ns()

    def advance_ms(self, ms):
        """The device worked."""
        self.device_ns += round(ms * 1e6)

    def sleep(self, seconds):
        if self.mode == "measured":
            _sleep(seconds)
        else:
            self.device_ns += round(max(seconds, 0) * 1e9)

    def begin_pause(self):
        if self._pauses == 0:
            self._pause_began = _perf_counter_ns()
        self._pauses += 1

    def end_pause(self):
        self._pauses -= 1
        if self._pauses == 0:
            self._paused += _perf_counter_ns() - self._pause_began

    def install(self):
        """Gives this clock to everything in the process that asks ``time`` from now on."""
        _time.perf_counter_ns = self.perf_counter_ns
        _time.perf_counter = lambda: self.perf_counter_ns() / 1e9
        _time.monotonic_ns = self.perf_counter_ns
        _time.monotonic = _time.perf_counter
        _time.time_ns = self.time_ns
        _time.time = lambda: self.time_ns() / 1e9
        _time.sleep = self.sleep


current = None


@contextlib.contextmanager
def pause():
    """The simulation works in here, which takes no time of the script."""
    if current is None:
        yield
        return
    current.begin_pause()
    try:
        yield
    finally:
        current.end_pause()


def advance_ms(ms):
    if current is not None:
        current.advance_ms(ms)
