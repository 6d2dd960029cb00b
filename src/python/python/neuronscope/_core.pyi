from typing import Any, Callable, Mapping, Optional, Sequence

__version__: str

class Error(RuntimeError):
    """A call could not be done. ``partial`` is what it had printed."""

    partial: bytes

class UsageError(ValueError):
    """An argument does not exist, or has a value that it does not take."""

    partial: bytes

def main(words: Sequence[str]) -> int:
    """Runs the command line in place of this process; returns its exit code."""

class Shell:
    """Runs commands one after another in its own thread, and keeps what they open."""

    def __init__(self) -> None: ...
    def call(
        self,
        args: Sequence[str],
        files: Optional[Mapping[str, bytes]] = None,
        wanted: Optional[Sequence[str]] = None,
        on_line: Optional[Callable[[str], object]] = None,
        on_progress: Optional[Callable[[int, int, str], object]] = None,
    ) -> tuple[bytes, dict[str, bytes]]: ...
    def close(self) -> None: ...

class Columns:
    """The columns of a table."""

    def __init__(self, rows: bytes) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def numbers(self, name: str) -> Optional[Numbers]: ...

class Numbers:
    """A column of numbers, which NumPy reads where it is."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...
