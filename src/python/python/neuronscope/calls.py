"""Calls of the command line: arguments in, what it prints out."""

from __future__ import annotations

import json
import os
import sys

from ._core import Shell
from .progress import Progress

_SHELL = None


def shared_shell():
    """The shell of calls that leave nothing open; a forked process gets its own."""
    global _SHELL
    if _SHELL is None or _SHELL[0] != os.getpid():
        _SHELL = (os.getpid(), Shell())
    return _SHELL[1]


def say(line):
    print(line, file=sys.stderr)


def with_page(args):
    """The arguments of ``serve`` with the page of the wheel, if they name no other."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
    names_one = any(arg.startswith("--dir") for arg in args)
    return [*args, f"--dir={page}"] if args[:1] == ["serve"] and not names_one and os.path.isdir(page) else args


def run(args, *, files=None, wanted=(), shell=None, on_line=say):
    """Runs a command and returns its output as bytes, and the ``wanted`` files as a dictionary.

    ``files`` are read from memory, by the names that ``args`` give them; ``wanted`` files are not written to the disk.
    """
    from . import clock

    shell = shell or Shell()
    args = with_page([str(arg) for arg in args])
    with Progress() as progress, clock.pause():
        return shell.call(args, dict(files or {}), list(wanted), on_line, progress.show)


def command(*args, **options):
    """The output of any command of the command line as text: ``command("devices")``, ``command("query", "run.json", "count()")``; the words
    may also be a list, as for ``subprocess``."""
    files = options.pop("files", None)
    words = [word for arg in args for word in (arg if isinstance(arg, (list, tuple)) else [arg])]
    return run([*words, *flags(options)], files=files)[0].decode()


def run_json(args, **how):
    """The JSON that a command prints."""
    return json.loads(run([*args, "--json"], **how)[0])


def flags(options):
    """Options as flags: ``n_models=[1, 2]`` is ``--n_models=1,2``; an option that is ``None`` is left out."""
    return [f"--{name}={text_of(value)}" for name, value in options.items() if value is not None]


def text_of(value):
    """A value as a flag takes it."""
    if isinstance(value, dict):
        return ",".join(f"{name}={of}" for name, of in value.items())
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, set, range)):
        return ",".join(map(text_of, value))
    return str(value)
