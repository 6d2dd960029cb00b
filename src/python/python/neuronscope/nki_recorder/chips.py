"""What a chip allows. The sizes of memories are those of `ns_machine`; the limits of instructions are of the reference of nki.isa."""


class Chip:
    def __init__(self, name, core, sbuf_kib, moving, available_kib):
        self.name, self.core = name, core
        # Bytes of a partition: what there is, and what the runtime leaves to a kernel.
        self.sbuf_bytes, self.sbuf_available = sbuf_kib * 1024, available_kib * 1024
        self.moving = moving


PARTITIONS = 128
PSUM_BANK_BYTES = 2048
PSUM_BANKS = 8
STATIONARY = 128
BN_STATS = 512

CHIPS = {
    chip.name: chip
    for chip in (
        Chip("trn1", 2, 192, 512, 176),
        Chip("inf2", 2, 192, 512, 176),
        Chip("trn2", 3, 224, 512, 208),
        Chip("trn3", 4, 256, 1024, 240),
    )
}
# What the Neuron SDK calls them in NEURON_PLATFORM_TARGET_OVERRIDE.
ALIASES = {"gen2": "trn1", "gen3": "trn2", "gen4": "trn3", "trn1n": "trn1", "trn2u": "trn2"}


def chip(name):
    """The chip of a name or of an instance (`trn2.48xlarge`), or None."""
    name = name.lower().split(".")[0]
    return CHIPS.get(ALIASES.get(name, name))
