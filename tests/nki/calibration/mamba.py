"""The selective scan of Mamba in the first dialect: delta, u (256, 7168), a (256, 16), b, c (16, 7168)."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

W = 512
UNROLL = 4


@nki.jit
def whole_rows(delta, u, a, b, c):
    """A tile is the whole sequence; delta * u stands in the loop over states."""
    channels, n = delta.shape
    states = a.shape[1]
    out = nl.ndarray((channels, n), dtype=delta.dtype, buffer=nl.shared_hbm)
    for channel in nl.affine_range(channels // 128):
        rows = nl.ds(channel * 128, 128)
        total = nl.zeros((nl.par_dim(128), n), dtype=delta.dtype)
        d_tile = nl.load(delta[rows, 0:n])
        u_tile = nl.load(u[rows, 0:n])
        for state in nl.affine_range(states):
            a_column = nl.load(a[rows, state : state + 1])
            decay = nisa.activation(op=nl.exp, data=d_tile, scale=a_column)
            du = nisa.tensor_tensor(d_tile, u_tile, op=nl.multiply)
            b_row = nl.load(b[state : state + 1, 0:n])
            dbu = nisa.tensor_tensor(du, b_row.broadcast_to((128, n)), op=nl.multiply)
            scan = nisa.tensor_tensor_scan(decay, dbu, initial=0, op0=nl.multiply, op1=nl.add)
            c_row = nl.load(c[state : state + 1, 0:n])
            product = nisa.tensor_tensor(scan, c_row.broadcast_to((128, n)), op=nl.multiply)
            total[...] = nisa.tensor_tensor(total, product, op=nl.add)
        nl.store(out[rows, 0:n], value=total)
    return out


def _state(d_tile, du, a, b_wide, c_wide, rows, state, carry, total):
    """One state of one tile: decay, scan from where the last tile ended, and its share of the result."""
    a_column = nl.load(a[rows, state : state + 1])
    decay = nisa.activation(op=nl.exp, data=d_tile, scale=a_column)
    dbu = nisa.tensor_tensor(du, b_wide, op=nl.multiply)
    scan = nisa.tensor_tensor_scan(decay, dbu, initial=carry[:, state : state + 1], op0=nl.multiply, op1=nl.add)
    carry[:, state : state + 1] = nl.copy(scan[:, W - 1 : W])
    product = nisa.tensor_tensor(scan, c_wide, op=nl.multiply)
    total[...] = nisa.tensor_tensor(total, product, op=nl.add)


def _wide(row, state, columns):
    return nl.load(row[state : state + 1, columns]).broadcast_to((128, W))


@nki.jit
def tiles(delta, u, a, b, c):
    """W columns at a time; channels outside, so b and c are spread for each of them. delta * u stands in the inner loop."""
    channels, n = delta.shape
    states = a.shape[1]
    out = nl.ndarray((channels, n), dtype=delta.dtype, buffer=nl.shared_hbm)
    for channel in nl.affine_range(channels // 128):
        rows = nl.ds(channel * 128, 128)
        carry = nl.zeros((nl.par_dim(128), states), dtype=delta.dtype)
        for at in nl.sequential_range(n // W):
            columns = nl.ds(at * W, W)
            d_tile, u_tile = nl.load(delta[rows, columns]), nl.load(u[rows, columns])
            total = nl.zeros((nl.par_dim(128), W), dtype=delta.dtype)
            for state in nl.affine_range(states):
                du = nisa.tensor_tensor(d_tile, u_tile, op=nl.multiply)
                _state(d_tile, du, a, _wide(b, state, columns), _wide(c, state, columns), rows, state, carry, total)
            nl.store(out[rows, columns], value=total)
    return out


@nki.jit
def tiles_outside(delta, u, a, b, c):
    """Tiles outside, channels inside: b and c are spread for each channel all the same."""
    channels, n = delta.shape
    states, blocks = a.shape[1], channels // 128
    out = nl.ndarray((channels, n), dtype=delta.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((blocks, nl.par_dim(128), states), dtype=delta.dtype)
    for at in nl.sequential_range(n // W):
        columns = nl.ds(at * W, W)
        for channel in nl.affine_range(blocks):
            rows = nl.ds(channel * 128, 128)
            d_tile, u_tile = nl.load(delta[rows, columns]), nl.load(u[rows, columns])
            total = nl.zeros((nl.par_dim(128), W), dtype=delta.dtype)
            for state in nl.affine_range(states):
                du = nisa.tensor_tensor(d_tile, u_tile, op=nl.multiply)
                _state(d_tile, du, a, _wide(b, state, columns), _wide(c, state, columns), rows, state, carry[channel], total)
            nl.store(out[rows, columns], value=total)
    return out


@nki.jit
def shared_rows(delta, u, a, b, c):
    """b and c are spread once for all channels; delta * u is computed in the innermost loop."""
    channels, n = delta.shape
    states, blocks = a.shape[1], channels // 128
    out = nl.ndarray((channels, n), dtype=delta.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((blocks, nl.par_dim(128), states), dtype=delta.dtype)
    for at in nl.sequential_range(n // W):
        columns = nl.ds(at * W, W)
        d_tiles = nl.ndarray((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        u_tiles = nl.ndarray((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        total = nl.zeros((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        for channel in nl.affine_range(blocks):
            d_tiles[channel] = nl.load(delta[nl.ds(channel * 128, 128), columns])
            u_tiles[channel] = nl.load(u[nl.ds(channel * 128, 128), columns])
        for state in nl.affine_range(states):
            b_wide, c_wide = _wide(b, state, columns), _wide(c, state, columns)
            for channel in nl.affine_range(blocks):
                du = nisa.tensor_tensor(d_tiles[channel], u_tiles[channel], op=nl.multiply)
                _state(d_tiles[channel], du, a, b_wide, c_wide, nl.ds(channel * 128, 128), state, carry[channel], total[channel])
        for channel in nl.affine_range(blocks):
            nl.store(out[nl.ds(channel * 128, 128), columns], value=total[channel])
    return out


def _shared(delta, u, a, b, c, step):
    channels, n = delta.shape
    states, blocks = a.shape[1], channels // 128
    out = nl.ndarray((channels, n), dtype=delta.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((blocks, nl.par_dim(128), states), dtype=delta.dtype)
    for at in nl.sequential_range(n // W):
        columns = nl.ds(at * W, W)
        d_tiles = nl.ndarray((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        du = nl.ndarray((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        total = nl.zeros((blocks, nl.par_dim(128), W), dtype=delta.dtype)
        for channel in nl.affine_range(blocks):
            rows = nl.ds(channel * 128, 128)
            d_tiles[channel] = nl.load(delta[rows, columns])
            du[channel] = nisa.tensor_tensor(d_tiles[channel], nl.load(u[rows, columns]), op=nl.multiply)
        for group in nl.affine_range(states // step):
            for inner in nl.static_range(step):
                state = group * step + inner
                b_wide = nl.ndarray((nl.par_dim(128), W), dtype=delta.dtype)
                c_wide = nl.ndarray((nl.par_dim(128), W), dtype=delta.dtype)
                b_wide[...], c_wide[...] = _wide(b, state, columns), _wide(c, state, columns)
                for channel in nl.affine_range(blocks):
                    _state(d_tiles[channel], du[channel], a, b_wide, c_wide, nl.ds(channel * 128, 128), state, carry[channel], total[channel])
        for channel in nl.affine_range(blocks):
            nl.store(out[nl.ds(channel * 128, 128), columns], value=total[channel])
    return out


@nki.jit
def shared_products(delta, u, a, b, c):
    """delta * u is computed once for each tile."""
    return _shared(delta, u, a, b, c, 1)


@nki.jit
def shared_products_unrolled(delta, u, a, b, c):
    """The same with UNROLL states unrolled."""
    return _shared(delta, u, a, b, c, UNROLL)
