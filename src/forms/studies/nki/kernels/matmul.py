"""A product of matrices: a tile of the result at a time, from tiles of both operands."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul(lhs_t, rhs):
    k, m = lhs_t.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for row in nl.affine_range(m // 128):
        for column in nl.affine_range(n // 512):
            acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for at in nl.affine_range(k // 128):
                left = nl.ndarray((128, 128), dtype=lhs_t.dtype, buffer=nl.sbuf)
                right = nl.ndarray((128, 512), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=left, src=lhs_t[nl.ds(at * 128, 128), nl.ds(row * 128, 128)])
                nisa.dma_copy(dst=right, src=rhs[nl.ds(at * 128, 128), nl.ds(column * 512, 512)])
                nisa.nc_matmul(dst=acc, stationary=left, moving=right)
            tile = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=tile, src=acc)
            nisa.dma_copy(dst=out[nl.ds(row * 128, 128), nl.ds(column * 512, 512)], src=tile)
    return out
