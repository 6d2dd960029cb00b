import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.compiler as ncc
@nki.compiler.skip_middle_end_transformations if hasattr(nki, "compiler") and hasattr(nki.compiler, "skip_middle_end_transformations") else (lambda f: f)
@nki.jit
def direct_alloc(lhsT, rhs):
    K, M = lhsT.shape
    _, N = rhs.shape
    res = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    l = nl.ndarray((K // 128, nl.par_dim(128), M), dtype=lhsT.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(K // 128,)))
    r = nl.ndarray((K // 128, nl.par_dim(128), 512), dtype=rhs.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=K // 128 * M * 2, num_free_tiles=(2,)))
    o = nl.ndarray((4, nl.par_dim(128), 512), dtype=res.dtype, buffer=ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: (0, 100000 + idx[0] * 2048)))
    ps = nl.ndarray((8, nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(8,)))
    for k in nl.affine_range(K // 128):
        l[k] = nl.load(lhsT[k * 128:(k + 1) * 128, :])
    for n in nl.sequential_range(N // 512):
        for k in nl.affine_range(K // 128):
            r[k] = nl.load(rhs[k * 128:(k + 1) * 128, n * 512:(n + 1) * 512])
        for m in nl.affine_range(M // 128):
            for k in nl.affine_range(K // 128):
                ps[m] += nisa.nc_matmul(l[k, :, m * 128:(m + 1) * 128], r[k])
            o[m % 4] = nl.copy(ps[m], dtype=res.dtype)
            nl.store(res[m * 128:(m + 1) * 128, n * 512:(n + 1) * 512], o[m % 4])
    return res
if __name__ == "__main__":
    direct_alloc(np.zeros((512, 512), nl.bfloat16), np.zeros((512, 1024), nl.bfloat16))
