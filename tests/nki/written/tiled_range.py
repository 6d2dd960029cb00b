"""A product whose sizes do not divide, by an iterator of tiles, with the tiles in a dictionary."""
from __future__ import annotations

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

P = nl.tile_size.pmax


class Tile(nl.NKIObject):
    index: int
    start: int
    size: int

    def ds(self):
        return nl.ds(self.start, self.size)


class TiledRange:
    def __init__(self, total: int, size: int):
        self.total, self.size = total, size

    def __iter__(self):
        for index, start in enumerate(range(0, self.total, self.size)):
            yield Tile(index=index, start=start, size=min(self.size, self.total - start))


def check(condition: bool, message: str = ""):
    assert condition, f"[kernel] {message}"


@nki.jit
def product(lhs_t, rhs):
    k, m = lhs_t.shape
    check(k == rhs.shape[0], f"{k} rows meet {rhs.shape[0]}")
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    tiles: dict[tuple[int, int], nl.NkiTensor] = {}
    for kt in TiledRange(k, P):
        for mt in TiledRange(m, nl.tile_size.gemm_stationary_fmax):
            tiles[kt.index, mt.index] = nl.ndarray((P, nl.tile_size.gemm_stationary_fmax), dtype=lhs_t.dtype, buffer=nl.sbuf, name=f"lhs_{kt.index}_{mt.index}")
            nisa.dma_copy(dst=tiles[kt.index, mt.index][: kt.size, : mt.size], src=lhs_t[kt.ds(), mt.ds()])
    for nt in TiledRange(n, nl.tile_size.gemm_moving_fmax):
        moving = [nl.ndarray((P, nt.size), dtype=rhs.dtype, buffer=nl.sbuf) for _ in TiledRange(k, P)]
        [nisa.dma_copy(dst=moving[kt.index][: kt.size], src=rhs[kt.ds(), nt.ds()]) for kt in TiledRange(k, P)]
        for mt in TiledRange(m, nl.tile_size.gemm_stationary_fmax):
            acc = nl.ndarray((P, nt.size), dtype=nl.float32, buffer=nl.psum)
            for kt in TiledRange(k, P):
                nisa.nc_matmul(dst=acc[: mt.size, :], stationary=tiles[kt.index, mt.index][: kt.size, : mt.size], moving=moving[kt.index][: kt.size, :])
            result = nl.ndarray((P, nt.size), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result[: mt.size, :], src=acc[: mt.size, :], engine=nisa.vector_engine if mt.index % 2 else nisa.scalar_engine)
            nisa.dma_copy(dst=out[mt.ds(), nt.ds()], src=result[: mt.size, :])
    return out


if __name__ == "__main__":
    print(product(np.zeros((300, 200), np.float32), np.zeros((300, 700), np.float32)))
