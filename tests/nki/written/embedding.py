import neuronxcc.nki as nki, neuronxcc.nki.language as nl, neuronxcc.nki.isa as nisa
import numpy as np

@nki.jit
def embedding_lookup(table, ids):
    n, = ids.shape
    vocab, d = table.shape
    out = nl.ndarray((n, d), dtype=table.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(d)[None, :]
    for t in nl.affine_range(n // 128):
        idx = nl.load(ids.reshape((n // 128, 128, 1))[t, i_p, 0])
        rows = nl.ndarray((nl.par_dim(128), d), dtype=table.dtype)
        rows[i_p, i_f] = nl.load(table[idx[i_p, 0], i_f], mask=None)
        nl.store(out[t * 128 + i_p, i_f], rows)
    return out

@nki.jit
def scatter_rows(dst, src, ids):
    n, d = src.shape
    idx = nl.load(ids[nl.arange(128)[:, None], nl.arange(1)[None, :]])
    val = nl.load(src)
    i_f = nl.arange(d)[None, :]
    nl.store(dst[idx[nl.arange(128)[:, None], 0], i_f], value=val)
    return dst

if __name__ == "__main__":
    embedding_lookup(np.zeros((1000, 256), np.float32), np.zeros((256,), np.int32))
