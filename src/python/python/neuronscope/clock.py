"""The clock of a script that runs on the simulated device.

A script under ``python -m neuronscope`` reads this clock where it asks for the time. Simulated device time is added to it, and the time
that the simulation itself takes is left out.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time as _time

MODES = ("both", "simulated", "measured")

_LIBRARY = os.path.dirname(os.__file__)

# The clock of this machine, also where a script has another one.
measured = _time.perf_counter
_perf_counter_ns = _time.perf_counter_ns
_time_ns = _time.time_ns
_monotonic_ns = _time.monotonic_ns
_sleep = _time.sleep


def _is_pythons(frame):
    """Whether a module of Python itself asks: its queues and event loops wait until a time of this machine."""
    file = frame.f_code.co_filename
    return file.startswith(_LIBRARY) and "site-packages" not in file


# How many threads the script has started.
_threads = 0
_start = threading.Thread.start


def _start_thread(thread):
    global _threads
    _threads += 1
    _start(thread)


class Clock:
    """``simulated``: device time and sleeps only. ``measured``: the time of this machine. ``both``: the script's own processor time, which other
    programs of a busy machine do not change, and device time."""

    def __init__(self, mode="both"):
        if mode not in MODES:
            raise ValueError(f"the clock {mode!r} does not exist; choose from {', '.join(MODES)}")
        self.mode = mode
        self.device_ns = 0
        self._start = _perf_counter_ns()
        self._epoch = _time_ns()
        self._pauses = 0
        self._host_ns = 0
        self._lock = threading.RLock()
        self._last = self._reading()

    @staticmethod
    def _reading():
        return (threading.get_ident(), _threads), _time.thread_time_ns(), _time.process_time_ns(), _perf_counter_ns()

    def _count(self):
        """Adds what the script has worked since the last reading."""
        with self._lock:
            (was, *before), (is_now, *now) = self._last, self._reading()
            self._last = (is_now, *now)
            if self._pauses:
                return
            of_thread, of_process, passed = (max(b - a, 0) for a, b in zip(before, now))
            # Threads of an operator work side by side for the one that called it; other threads of the script are known together only.
            is_alone = was == is_now and threading.active_count() == 1
            self._host_ns += of_thread if is_alone else min(of_process, passed)

    def passed_ns(self):
        if self.mode == "measured":
            return _perf_counter_ns() - self._start
        if self.mode == "simulated":
            return self.device_ns
        self._count()
        return self._host_ns + self.device_ns

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

    def pause(self, by):
        """One pause more, or one less; the clock counts the script's work if there is none."""
        with self._lock:
            self._count()
            self._pauses += by

    def install(self):
        """Gives this clock to everything in the process that asks ``time`` from now on."""
        threading.Thread.start = _start_thread
        _time.perf_counter_ns = self.perf_counter_ns
        _time.perf_counter = lambda: self.perf_counter_ns() / 1e9
        _time.monotonic_ns = lambda: _monotonic_ns() if _is_pythons(sys._getframe(1)) else self.perf_counter_ns()
        _time.monotonic = lambda: (_monotonic_ns() if _is_pythons(sys._getframe(1)) else self.perf_counter_ns()) / 1e9
        _time.time_ns = self.time_ns
        _time.time = lambda: self.time_ns() / 1e9
        _time.sleep = self.sleep


current = None


@contextlib.contextmanager
def pause(by=1):
    """The simulation works in here, which takes no time of the script."""
    if current is None:
        yield
        return
    current.pause(by)
    try:
        yield
    finally:
        current.pause(-by)


def resume():
    """Inside of one pause, what the script's processor works after all."""
    return pause(-1)


def advance_ms(ms):
    if current is not None:
        current.advance_ms(ms)
