"""The same product with fewer loads: ROWS tiles of rows stay in SBUF, and each tile of the right operand serves all of them."""

import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 4


@nki.jit
def matmul(lhs_t, rhs):
    k, m = lhs_t.shape
    n = rhs.shape[1]
    out = nl.ndarray((m, n), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for block in nl.affine_range(m // (128 * ROWS)):
        first = block * 128 * ROWS
        lefts = []
        for at in range(k // 128):
            left = nl.ndarray((128, 128 * ROWS), dtype=lhs_t.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=left, src=lhs_t[nl.ds(at * 128, 128), nl.ds(first, 128 * ROWS)])
            lefts.append(left)
        for column in nl.affine_range(n // 512):
            accs = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for _ in range(ROWS)]
            for at in range(k // 128):
                right = nl.ndarray((128, 512), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=right, src=rhs[nl.ds(at * 128, 128), nl.ds(column * 512, 512)])
                for row in range(ROWS):
                    nisa.nc_matmul(dst=accs[row], stationary=lefts[at][:, nl.ds(row * 128, 128)], moving=right)
            for row in range(ROWS):
                tile = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=tile, src=accs[row])
                nisa.dma_copy(dst=out[nl.ds(first + row * 128, 128), nl.ds(column * 512, 512)], src=tile)
    return out
