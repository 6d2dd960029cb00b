from typing import Callable, Mapping, Optional, Sequence

__version__: str

class Error(RuntimeError):
    """A call could not be done. ``partial`` is what it had printed."""

    partial: bytes

class UsageError(ValueError):
    """An argument does not exist, or has a value that it does not take."""

    partial: bytes

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
