import nki, nki.language as nl, nki.isa as nisa
import torch
@nki.jit
def router(x, w, k=2):
    T, H = x.shape
    E = w.shape[1]
    idx_out = nl.ndarray((T, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    aff = nl.ndarray((T, E), dtype=nl.float32, buffer=nl.shared_hbm)
    wt = [nl.load(w[h * 128:(h + 1) * 128, :]) for h in range(H // 128)]
    for t in nl.affine_range(T // 128):
        xs = nl.load(x[t * 128:(t + 1) * 128, :])
        ps = nl.zeros((128, E), dtype=nl.float32, buffer=nl.psum)
        for h in range(H // 128):
            xt = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.psum)
            nisa.nc_transpose(xt, xs[:, h * 128:(h + 1) * 128])
            xb = nl.copy(xt)
            nisa.nc_matmul(ps, xb, wt[h])
        logits = nl.copy(ps)
        sm = nl.softmax(logits, axis=1)
        mx = nl.ndarray((128, 8), dtype=nl.float32); nisa.max8(mx, sm)
        ix = nl.ndarray((128, 8), dtype=nl.uint32); nisa.nc_find_index8(ix, sm, mx)
        thr = mx[:, k - 1:k]
        keep = nl.ndarray((128, E), dtype=nl.float32)
        nisa.tensor_scalar(keep, sm, nl.greater_equal, thr)
        a = nl.ndarray((128, E), dtype=nl.float32); nisa.tensor_tensor(a, sm, keep, nl.multiply)
        nl.store(aff[t * 128:(t + 1) * 128, :], a); nl.store(idx_out[t * 128:(t + 1) * 128, :], ix)
    return idx_out, aff
if __name__ == "__main__":
    router(torch.randn(256, 512, dtype=torch.bfloat16), torch.randn(512, 64).to(torch.bfloat16))
