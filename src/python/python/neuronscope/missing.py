"""Names of the SDK that do not exist here."""


class Missing(ImportError, AttributeError):
    """A script asks for something that the simulated device does not have. The message says what exists."""

    def __init__(self, module, name, known):
        super().__init__(f"{module} has no {name} on the simulated device; it has {', '.join(known)}")
        self.name = name


def attribute_of(module, known):
    """The ``__getattr__`` of a module."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Missing(module, name, known)

    return __getattr__
