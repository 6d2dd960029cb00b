import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
from neuronxcc.nki.language import par_dim

@nki.jit
def cross_entropy_forward(logits, labels, positions_per_batch=32, chunk_size=4096):
    T, V = logits.shape
    loss = nl.ndarray((T, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    P = 128
    i_p = nl.arange(P)[:, None]
    i_f = nl.arange(chunk_size)[None, :]
    n = (V + chunk_size - 1) // chunk_size
    for t in nl.affine_range(T // P):
        m = nl.full((P, 1), -3.0e38, dtype=nl.float32)
        s = nl.zeros((P, 1), dtype=nl.float32)
        lab = nl.load(labels[t * P + i_p, nl.arange(1)[None, :]])
        picked = nl.zeros((P, 1), dtype=nl.float32)
        for c in nl.sequential_range(n):
            msk = (c * chunk_size + i_f < V)
            x = nl.load(logits[t * P + i_p, c * chunk_size + i_f], mask=msk)
            cm = nl.max(x, axis=1, mask=msk)
            nm = nl.maximum(m, cm)
            corr = nl.exp(m - nm)
            e = nl.ndarray((P, chunk_size), dtype=nl.float32)
            e[i_p, i_f] = nl.exp(x - nm, mask=msk)
            s[...] = s * corr + nl.sum(e[i_p, i_f], axis=1, mask=msk)
            pos = nisa.iota(c * chunk_size + i_f, dtype=nl.int32)
            eq = nl.equal(pos.broadcast_to((P, chunk_size)), lab)
            picked[...] = picked + nl.sum(eq * x, axis=[1], mask=msk)
            m[...] = nm
        out = nl.log(s) + m - picked
        nl.store(loss[t * P + i_p, nl.arange(1)[None, :]], value=out)
    return loss

nki.simulate_kernel(cross_entropy_forward, np.zeros((128, 10000), dtype=nl.bfloat16), np.zeros((128, 1), np.int32))
