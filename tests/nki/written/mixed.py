import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
from contextlib import contextmanager
from itertools import product
from collections import namedtuple

@contextmanager
def scoped(name):
    yield name

def tiles(shape, *steps):
    return product(*[range(0, s, t) for s, t in zip(shape, steps)])

Buf = namedtuple("Buf", "a b")

@nki.jit
def misc(x, w, alpha=1.0, activation="gelu", transpose_out=False):
    R, C = x.shape
    op = getattr(nl, activation)
    out = nl.ndarray((C, R) if transpose_out else (R, C), dtype=x.dtype, buffer=nl.shared_hbm)
    with scoped("rows"):
        for r, c in tiles((R, C), 128, 512):
            bufs = Buf(*[nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2)])
            nisa.dma_copy(bufs.a, x[r:r + 128, c:c + 512])
            nisa.dma_copy(bufs.b, w[r:r + 128, c:c + 512], dge_mode=nisa.dge_mode.hwdge)
            nisa.scalar_tensor_tensor(bufs.a, bufs.a, nl.multiply, alpha, nl.add, bufs.b)
            nisa.activation(bufs.a, op, bufs.a)
            v = bufs.a.reshape((128, 4, 128))
            m = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_reduce(m, nl.add, v, axis=2)
            mm = m.reshape((128, 4, 1)).broadcast_to((128, 4, 128)) if hasattr(m, "broadcast_to") else m
            nisa.tensor_tensor(v, v, mm, nl.subtract)
            a = bufs.a[:, ::2]
            e = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(e, a)
            nisa.tensor_copy(bufs.a[:, 1::2], e)
            nisa.dma_copy(out[r:r + 128, c:c + 512], bufs.a)
    return out
if __name__ == "__main__":
    misc(np.zeros((256, 1024), np.float32), np.zeros((256, 1024), np.float32), alpha=0.5, activation="silu")
