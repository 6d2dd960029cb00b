"""silu of x in the first dialect, a piece of WIDTH columns at a time."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

WIDTH = 1024


@nki.jit
def silu(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for block in nl.affine_range(rows // 128):
        for piece in nl.affine_range(columns // WIDTH):
            i_p = block * 128 + nl.arange(128)[:, None]
            i_f = piece * WIDTH + nl.arange(WIDTH)[None, :]
            tile = nl.load(x[i_p, i_f])
            nl.store(out[i_p, i_f], value=nisa.activation(op=nl.silu, data=tile))
    return out
