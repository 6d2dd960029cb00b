"""A product of microscaled 8-bit tiles, which the chip of its own target has."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


@nki.jit(platform_target="trn3")
def microscaled(stationary, stationary_scale, moving, moving_scale):
    rows, columns = stationary.shape[1], moving.shape[1]
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = []
    for one in (stationary, moving, stationary_scale, moving_scale):
        tile = nl.ndarray(one.shape, dtype=nl.uint8 if "scale" in one.name else nl.float8_e4m3fn_x4, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=one)
        tiles.append(tile)
    product = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(product, tiles[0], tiles[1], tiles[2], tiles[3])
    result = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=product)
    nisa.dma_copy(dst=out, src=result)
    return out


if __name__ == "__main__":
    packed, scale = np.uint32, np.uint8
    microscaled(np.zeros((128, 128), packed), np.zeros((128, 128), scale), np.zeros((128, 512), packed), np.zeros((128, 512), scale))
