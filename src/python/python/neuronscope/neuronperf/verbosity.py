"""How much is said: 0 errors, 1 each configuration, 2 every step."""

level = 1


def set_verbosity(verbosity):
    global level
    if verbosity not in (0, 1, 2):
        raise ValueError(f"verbosity {verbosity!r} does not exist; choose from 0, 1 and 2")
    level = verbosity


def chosen(verbosity):
    return level if verbosity is None else verbosity
