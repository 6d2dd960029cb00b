"""What a kernel does wrong: one sentence with its values, and what to do instead."""

import difflib


class KernelError(Exception):
    """An error of the author's kernel. `kind` is one of docs/formats/nki-list.md, `code` the compiler's or empty."""

    def __init__(self, kind, message, fix="", code=""):
        super().__init__(message)
        self.kind, self.message, self.fix, self.code = kind, message, fix, code


class NameOfNothing(KernelError, AttributeError):
    """An invented name. hasattr() and getattr() with a default work as they do elsewhere."""


class End(BaseException):
    """The kernel is recorded: the rest of the file need not run. No `except Exception` of the author may catch it."""


def nearest(name, names):
    """The public name that looks most like `name`, or None."""
    # A name of another case or with a part too many is nearer than letters say.
    folded = {one.lower(): one for one in names}
    if name.lower() in folded:
        return folded[name.lower()]
    found = difflib.get_close_matches(name, names, 1, 0.6)
    if found:
        return found[0]
    parts = [one for one in names if len(one) > 3 and (one in name or name in one)]
    return max(parts, key=len) if parts else None


def no_such_name(owner, name, names):
    near = nearest(name, names)
    spoken = f".{near}" if " " in owner else f"{owner}.{near}"
    fix = f"use {spoken}" if near else f"look the name up in the reference of {owner}"
    return NameOfNothing("name", f"{owner} has no {name!r}.", fix)


def times(shape):
    """A shape as a person writes it: 128x512."""
    return "x".join(str(n) for n in shape) if len(shape) else "one element"
