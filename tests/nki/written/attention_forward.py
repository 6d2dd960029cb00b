import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
from neuronxcc.nki.language import par_dim

import neuronxcc.nki.typing as nt
from dataclasses import dataclass
import math

@dataclass(frozen=True)
class FlashConfig:
    seq_tile_size: int = 2048
    training: bool = True
    should_transpose_v: bool = False

B_P_SIZE, B_F_SIZE = 128, 512
NEG_INF = -9984.0

@nki.jit(mode="trace")
def transpose_p_local(p_local_transposed, p_local, LARGE_TILE_SZ):
    for i in nl.affine_range(LARGE_TILE_SZ // B_F_SIZE):
        p_local_t_tmp = nl.ndarray((par_dim(B_P_SIZE), B_F_SIZE), buffer=nl.psum, dtype=np.float32)
        for j in nl.affine_range(B_F_SIZE // 128):
            j_128_slice = nl.ds(j * 128, 128)
            i_j_128_slice = nl.ds(i * B_F_SIZE + j * 128, 128)
            p_local_t_tmp[:, j_128_slice] = nisa.nc_transpose(p_local[:, i_j_128_slice])
        p_local_transposed[:, nl.ds(i * B_F_SIZE, B_F_SIZE)] = nl.copy(p_local_t_tmp, dtype=p_local_transposed.dtype)

@nki.jit(mode="trace")
def _flash_core(q_local_tile, k, v, q_h_per_k_h, o_buffer, l_buffer, m_buffer, q_tile_idx, local_k_large_tile_idx, kernel_dtype, acc_type, flash_config: FlashConfig, use_causal_mask=False):
    LARGE_TILE_SZ = flash_config.seq_tile_size
    num_k_tile_per_large_tile = LARGE_TILE_SZ // B_F_SIZE
    qk_res_buf = nl.ndarray((par_dim(B_P_SIZE), LARGE_TILE_SZ), buffer=nl.sbuf, dtype=acc_type)
    max_local = nl.ndarray((par_dim(B_P_SIZE), num_k_tile_per_large_tile), dtype=acc_type)
    for k_i in nl.affine_range(num_k_tile_per_large_tile):
        k_i_b_f_slice = nl.ds(k_i * B_F_SIZE, B_F_SIZE)
        qk_psum = nl.ndarray((par_dim(B_P_SIZE), B_F_SIZE), dtype=np.float32, buffer=nl.psum)
        if use_causal_mask:
            multiplication_required_selection = q_tile_idx * B_P_SIZE >= local_k_large_tile_idx * LARGE_TILE_SZ + k_i * B_F_SIZE
        else:
            multiplication_required_selection = True
        if multiplication_required_selection:
            qk_psum[:, :] = nl.matmul(q_local_tile, k[:, k_i_b_f_slice], transpose_x=True)
        else:
            qk_psum[:, :] = 0
        if use_causal_mask:
            left_diagonal_selection = q_tile_idx * B_P_SIZE >= local_k_large_tile_idx * LARGE_TILE_SZ + (k_i + 1) * B_F_SIZE
            diagonal_and_right_selection = (q_tile_idx * B_P_SIZE < local_k_large_tile_idx * LARGE_TILE_SZ + (k_i + 1) * B_F_SIZE)
            i_q_p, i_q_f = nl.mgrid[0:B_P_SIZE, 0:B_F_SIZE]
            q_pos = q_tile_idx * B_P_SIZE + i_q_p
            k_pos = local_k_large_tile_idx * LARGE_TILE_SZ + k_i * B_F_SIZE + i_q_f
            pred = q_pos >= k_pos
            qk_res_buf[:, k_i_b_f_slice] = nisa.affine_select(pred=pred, on_true_tile=qk_psum, on_false_value=NEG_INF, dtype=acc_type, mask=diagonal_and_right_selection)
            qk_res_buf[:, k_i_b_f_slice] = nl.copy(qk_psum, dtype=acc_type, mask=left_diagonal_selection)
        else:
            qk_res_buf[:, k_i_b_f_slice] = nl.copy(qk_psum, dtype=acc_type)
        max_local[:, k_i] = nisa.tensor_reduce(np.max, qk_res_buf[:, k_i_b_f_slice], axis=(1,), dtype=acc_type, negate=False)
    max_ = nisa.tensor_reduce(np.max, max_local[:, :], axis=(1,), dtype=acc_type, negate=False)
    o_previous_scaled = nl.ndarray((par_dim(B_P_SIZE), B_P_SIZE), dtype=o_buffer.dtype)
    m_previous = nl.copy(m_buffer[:, 0])
    m_buffer[:, 0] = nl.maximum(m_previous, max_)
    m_current = m_buffer[:, 0]
    alpha = nisa.activation(np.exp, m_current, bias=m_previous, scale=-1.0)
    o_previous_scaled[...] = nl.multiply(o_buffer[:, :], alpha)
    p_local = nl.ndarray((par_dim(B_P_SIZE), LARGE_TILE_SZ), dtype=kernel_dtype)
    REDUCTION_TILE = min(2048, LARGE_TILE_SZ // 2)
    p_partial_sum = nl.ndarray((par_dim(B_P_SIZE), LARGE_TILE_SZ // REDUCTION_TILE), dtype=acc_type)
    for k_r_i in nl.affine_range(LARGE_TILE_SZ // REDUCTION_TILE):
        sl = nl.ds(k_r_i * REDUCTION_TILE, REDUCTION_TILE)
        p_local[:, sl] = nisa.activation_reduce(np.exp, qk_res_buf[:, sl], bias=-1 * m_current, scale=1.0, reduce_op=nl.add, reduce_res=p_partial_sum[:, k_r_i], dtype=kernel_dtype)
    ps = nl.sum(p_partial_sum, axis=1, dtype=acc_type)
    p_local_transposed = nl.ndarray((par_dim(B_P_SIZE), LARGE_TILE_SZ), dtype=kernel_dtype)
    transpose_p_local(p_local_transposed=p_local_transposed, p_local=p_local, LARGE_TILE_SZ=LARGE_TILE_SZ)
    pv_psum = nl.zeros((par_dim(B_P_SIZE), B_P_SIZE), dtype=np.float32, buffer=nl.psum)
    for k_i in nl.affine_range(LARGE_TILE_SZ // B_P_SIZE):
        pv_psum[:, :] += nl.matmul(p_local_transposed[:, nl.ds(k_i * B_P_SIZE, B_P_SIZE)], v[k_i, :, :], transpose_x=True)
    o_buffer[:, :] = nl.add(o_previous_scaled, pv_psum)
    exp = nisa.activation(nl.exp, m_current, bias=l_buffer[:, 0], scale=-1.0)
    l_buffer[:, 0] = nl.add(m_current, nisa.activation(nl.log, exp, bias=ps))

@nki.jit
def flash_fwd(q, k, v, use_causal_mask=True, mixed_precision=True, softmax_scale=None, config=None):
    config = config or FlashConfig()
    b, h, d, seqlen_q = q.shape
    _, k_h, _, seqlen_k = k.shape
    assert d <= 128, f"head dim {d}"
    o = nl.ndarray((b, h, seqlen_q, d), dtype=q.dtype, buffer=nl.shared_hbm)
    lse = nl.ndarray((b, h, nl.tile_size.pmax, seqlen_q // nl.tile_size.pmax), dtype=nl.float32, buffer=nl.shared_hbm)
    kernel_dtype = nl.bfloat16 if mixed_precision else q.dtype
    acc_type = np.dtype(np.float32) if mixed_precision else kernel_dtype
    batch_id = nl.program_id(axis=0)
    head_id = nl.program_id(axis=1)
    softmax_scale = softmax_scale or (1.0 / (d ** 0.5))
    n_tile_q = seqlen_q // B_P_SIZE
    LARGE = config.seq_tile_size
    num_large = seqlen_k // LARGE
    for i_q_h in nl.affine_range(h // k_h):
        l_buffer = nl.full((par_dim(B_P_SIZE), n_tile_q), fill_value=0.0, dtype=acc_type, buffer=nl.sbuf)
        m_buf = nl.full((n_tile_q, par_dim(B_P_SIZE), 1), NEG_INF, dtype=acc_type, buffer=nl.sbuf)
        l_buf = nl.full((n_tile_q, par_dim(B_P_SIZE), 1), 0.0, dtype=acc_type, buffer=nl.sbuf)
        o_buf = nl.zeros((n_tile_q, par_dim(B_P_SIZE), d), dtype=acc_type, buffer=nl.sbuf)
        for j in nl.sequential_range(0, num_large):
            cur_k = nl.ndarray((par_dim(d), LARGE), dtype=kernel_dtype)
            cur_v = nl.ndarray((LARGE // 128, par_dim(128), d), dtype=kernel_dtype)
            cur_k[:, :] = nl.load(k[batch_id, head_id, :, nl.ds(j * LARGE, LARGE)])
            for v_i in nl.affine_range(LARGE // 128):
                cur_v[v_i, :, :] = nl.load(v[batch_id, head_id, nl.ds(j * LARGE + v_i * 128, 128), :], dtype=cur_v.dtype)
            for i in nl.affine_range(n_tile_q):
                q_tile = nl.ndarray((d, B_P_SIZE), dtype=kernel_dtype)
                q_sbuf_tile = nl.load(q[batch_id, head_id * (h // k_h) + i_q_h, :, nl.ds(i * B_P_SIZE, B_P_SIZE)], dtype=kernel_dtype)
                q_tile[:, :] = q_sbuf_tile * softmax_scale
                _flash_core(q_local_tile=q_tile, k=cur_k, v=cur_v, q_h_per_k_h=1, o_buffer=o_buf[i], l_buffer=l_buf[i], m_buffer=m_buf[i], q_tile_idx=i, local_k_large_tile_idx=j, kernel_dtype=kernel_dtype, acc_type=acc_type, flash_config=config, use_causal_mask=use_causal_mask)
        for i in nl.affine_range(n_tile_q):
            out = nl.ndarray((par_dim(B_P_SIZE), d), dtype=kernel_dtype)
            exp = nisa.activation(np.exp, l_buf[i, :, :], bias=m_buf[i, :, :], scale=-1.0)
            out[:, :] = nl.multiply(o_buf[i, :, :], exp, dtype=kernel_dtype)
            nl.store(o[batch_id, head_id * (h // k_h) + i_q_h, nl.ds(i * B_P_SIZE, B_P_SIZE), :], out)
            l_buffer[:, i] = nl.copy(l_buf[i, :, 0])
        nl.store(lse[batch_id, head_id * (h // k_h) + i_q_h, :, :], l_buffer[:, :])
    return o, lse

if __name__ == "__main__":
    q = np.zeros((1, 2, 128, 2048), dtype=nl.bfloat16)
    k = np.zeros((1, 2, 128, 2048), dtype=nl.bfloat16)
    v = np.zeros((1, 2, 2048, 128), dtype=nl.bfloat16)
    o, lse = nki.simulate_kernel(flash_fwd[1, 2], q, k, v)
