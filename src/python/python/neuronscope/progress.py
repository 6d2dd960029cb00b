"""The progress of a long call: tqdm's bar where tqdm is installed and a person looks."""

from __future__ import annotations

import sys

from .clock import measured

# A shorter call shows nothing.
_SHORTEST_S = 0.5


def _is_watched():
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


class Progress:
    def __enter__(self):
        self._began = measured()
        self._bar = None
        self._is_off = not _is_watched()
        return self

    def show(self, done, total, label):
        if self._is_off or measured() - self._began < _SHORTEST_S:
            return
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._is_off = True
                return
            self._bar = tqdm(leave=False)
        self._bar.total = total or None
        self._bar.set_description(label, refresh=False)
        self._bar.n = done
        self._bar.refresh()

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()
