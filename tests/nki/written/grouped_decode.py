import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
from neuronxcc.nki.language import par_dim
@nki.jit(mode="baremetal")
def gqa_decode(q, k_cache, v_cache, k_new, v_new, pos: int = 511):
    """q [B, Hq, D]; k_cache [B, Hkv, D, S]; v_cache [B, Hkv, S, D]"""
    B, Hq, D = q.shape
    _, Hkv, _, S = k_cache.shape
    G = Hq // Hkv
    out = nl.ndarray((B, Hq, D), dtype=q.dtype, buffer=nl.shared_hbm)
    softmax_scale = 1.0 / (D ** 0.5)
    i_d = nl.arange(D)[:, None]
    i_g = nl.arange(G)[None, :]
    for b in nl.affine_range(B):
        for h in nl.affine_range(Hkv):
            q_t = nl.load_transpose2d(q[b, h * G + nl.arange(G)[:, None], nl.arange(D)[None, :]])
            q_t = nl.multiply(q_t, softmax_scale, dtype=nl.bfloat16)
            k = nl.ndarray((par_dim(D), S), dtype=nl.bfloat16, buffer=nl.sbuf)
            k[i_d, nl.arange(S)[None, :]] = nl.load(k_cache[b, h, i_d, nl.arange(S)[None, :]])
            k[i_d, pos + nl.arange(1)[None, :]] = nl.load(k_new[b, h, i_d])
            scores = nl.zeros((par_dim(G), S), dtype=nl.float32, buffer=nl.sbuf)
            for t in nl.affine_range(S // 512):
                ps = nl.zeros((par_dim(G), 512), dtype=nl.float32, buffer=nl.psum)
                ps[...] += nisa.nc_matmul(q_t, k[i_d, t * 512 + nl.arange(512)[None, :]])
                scores[:, nl.ds(t * 512, 512)] = nl.copy(ps, dtype=nl.float32)
            m = nl.max(scores, axis=1, keepdims=True)
            e = nisa.activation(np.exp, scores, bias=-m, scale=1.0)
            s = nl.sum(e, axis=[1], keepdims=True)
            p = e / s
            o_ps = nl.zeros((par_dim(G), D), dtype=nl.float32, buffer=nl.psum)
            for t in nl.sequential_range(S // 128):
                pT = nisa.nc_transpose(p[:, t * 128:(t + 1) * 128])
                pTs = nl.copy(pT, dtype=nl.bfloat16)
                v = nl.load(v_cache[b, h, nl.ds(t * 128, 128), :], dtype=nl.bfloat16)
                o_ps += nl.matmul(pTs, v, transpose_x=True)
            nl.store(out[b, h * G + nl.arange(G)[:, None], nl.arange(D)[None, :]], value=o_ps)
    return out
if __name__ == "__main__":
    B, Hq, Hkv, D, S = 2, 32, 8, 128, 1024
    q = np.random.randn(B, Hq, D).astype(nl.bfloat16)
    o = gqa_decode(q, np.zeros((B, Hkv, D, S), nl.bfloat16), np.zeros((B, Hkv, S, D), nl.bfloat16), np.zeros((B, Hkv, D, 1), nl.bfloat16), np.zeros((B, Hkv, 1, D), nl.bfloat16))
    assert o.shape == (B, Hq, D)
