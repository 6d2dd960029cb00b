from dataclasses import dataclass
from enum import Enum
from typing import Optional

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


class Gate(Enum):
    SILU = "silu"
    GELU = "gelu"


@dataclass(frozen=True)
class Config:
    width: int = 512
    gate: Gate = Gate.SILU
    bias: Optional[object] = None


@nki.jit
def gated(gate, up, config: Config = Config()):
    out = nl.ndarray(gate.shape, dtype=gate.dtype, buffer=nl.shared_hbm)
    assert gate.shape[1] * gate.itemsize <= nl.tile_size.sbuf_fmax_bytes and nl.tile_size.psum_num_banks == 8
    for row in range(gate.shape[0] // nl.tile_size.pmax):
        for column in range(gate.shape[1] // config.width):
            part = (slice(row * 128, (row + 1) * 128), slice(column * config.width, (column + 1) * config.width))
            g, u = nl.ndarray((128, config.width), gate.dtype), nl.ndarray((128, config.width), up.dtype)
            nisa.dma_copy(dst=g, src=gate[part])
            nisa.dma_copy(dst=u, src=up[part])
            nisa.activation(dst=g, op=getattr(nl, config.gate.value), data=g)
            nisa.tensor_tensor(dst=g, data1=g, data2=u, op=nl.multiply)
            nisa.dma_copy(dst=out[part], src=g)
    return out


gated(np.zeros((1024, 1024), nl.bfloat16), np.zeros((1024, 1024), nl.bfloat16), Config(gate=Gate.GELU))
