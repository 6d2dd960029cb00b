"""Names of the SDK that do not exist here."""


def sentence(module, name, known):
    return f"{module} has no {name} on the simulated device; it has {', '.join(known)}"


class Missing(AttributeError):
    """A script asks for a name that the simulated device does not have. The message says what exists."""


class MissingModule(ModuleNotFoundError):
    """A script asks for a module that the simulated device does not have."""


def attribute_of(module, known):
    """The ``__getattr__`` of a module."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Missing(sentence(module, name, known))

    return __getattr__
