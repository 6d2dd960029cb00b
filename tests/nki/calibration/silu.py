"""silu of x (128, 32, 7168) in the first dialect: how wide a tile is, and whether two of them fit."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

ROWS = 1
PIECES = 7


@nki.jit
def blocks(x):
    """ROWS rows of 7168 at a time, with a tile for the result."""
    p, rows, f = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for at in nl.affine_range((rows + ROWS - 1) // ROWS):
        i_p = nl.arange(p)[:, None, None]
        i_r = nl.arange(ROWS)[None, :, None]
        i_f = nl.arange(f)[None, None, :]
        inside = at * ROWS + i_r < rows
        tile = nl.load(x[i_p, at * ROWS + i_r, i_f], mask=inside)
        result = nisa.activation(op=nl.silu, data=tile, mask=inside)
        nl.store(out[i_p, at * ROWS + i_r, i_f], value=result, mask=inside)
    return out


@nki.jit
def in_place(x):
    """ROWS rows at a time; the result overwrites the input."""
    p, rows, f = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for at in nl.affine_range(rows // ROWS):
        tile = nl.ndarray((nl.par_dim(p), ROWS, f), dtype=x.dtype, buffer=nl.sbuf)
        tile[...] = nl.load(x[:, at * ROWS : (at + 1) * ROWS, :])
        tile[...] = nisa.activation(op=nl.silu, data=tile)
        nl.store(out[:, at * ROWS : (at + 1) * ROWS, :], value=tile)
    return out


@nki.jit
def ping_pong(x):
    """Two rows to a turn of a sequential loop, in two tiles."""
    p, rows, f = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for at in nl.sequential_range(rows // 2):
        ping = nl.load(x[:, 2 * at, :])
        pong = nl.load(x[:, 2 * at + 1, :])
        nl.store(out[:, 2 * at, :], value=nisa.activation(op=nl.silu, data=ping))
        nl.store(out[:, 2 * at + 1, :], value=nisa.activation(op=nl.silu, data=pong))
    return out


@nki.jit
def pieces(x):
    """A row in PIECES pieces, in one loop."""
    p, rows, f = x.shape
    width = f // PIECES
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for at in nl.affine_range(rows * PIECES):
        row, first = at // PIECES, at % PIECES * width
        tile = nl.load(x[:, row, first : first + width])
        nl.store(out[:, row, first : first + width], value=nisa.activation(op=nl.silu, data=tile))
    return out


@nki.jit
def nested_pieces(x):
    """The same in two loops."""
    p, rows, f = x.shape
    width = f // PIECES
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(p)[:, None], nl.arange(width)[None, :]
    for row in nl.affine_range(rows):
        for piece in nl.affine_range(PIECES):
            tile = nl.load(x[i_p, row, piece * width + i_f])
            nl.store(out[i_p, row, piece * width + i_f], value=nisa.activation(op=nl.silu, data=tile))
    return out
