"""Operators of torch that update all weights at once, as the operators that a program of the device has."""

from __future__ import annotations

import math

import torch


def _adam(decoupled):
    def update(params, grads, averages, squares, largest, steps, *, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale=None, found_inf=None):
        for n, (p, average, square, step) in enumerate(zip(params, averages, squares, steps)):
            grad = -grads[n] if maximize else grads[n]
            if weight_decay and decoupled:
                p.mul_(1 - lr * weight_decay)
            elif weight_decay:
                grad = grad.add(p, alpha=weight_decay)
            average.lerp_(grad, 1 - beta1)
            square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if amsgrad:
                square = largest[n].copy_(torch.maximum(largest[n], square))
            root = (square / (1 - torch.pow(beta2, step))).sqrt().add_(eps)
            p.sub_(average / root * (lr / (1 - torch.pow(beta1, step))))

    return update


def _sgd(params, grads, momenta, *, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step, grad_scale=None, found_inf=None):
    for n, p in enumerate(params):
        grad = -grads[n] if maximize else grads[n]
        if weight_decay:
            grad = grad.add(p, alpha=weight_decay)
        if momentum:
            if is_first_step:
                momenta[n].copy_(grad)
            else:
                momenta[n].mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(momenta[n], alpha=momentum) if nesterov else momenta[n]
        p.sub_(grad * lr)


def _adagrad(params, grads, sums, steps, *, lr, lr_decay, weight_decay, eps, maximize, grad_scale=None, found_inf=None):
    for n, p in enumerate(params):
        grad = -grads[n] if maximize else grads[n]
        if weight_decay:
            grad = grad.add(p, alpha=weight_decay)
        sums[n].addcmul_(grad, grad)
        p.sub_(grad / sums[n].sqrt().add_(eps) * (lr / (1 + (steps[n] - 1) * lr_decay)))


UPDATES = {"aten::_fused_adam_": _adam(False), "aten::_fused_adamw_": _adam(True), "aten::_fused_sgd_": _sgd, "aten::_fused_adagrad_": _adagrad}


def _kernel_gradient(x, grad, kernel, stride, padding, dilation, groups):
    """The gradient of a convolution's kernel is a convolution of its input with the gradient of its result, over the batch."""
    batch, channels, *sizes = x.shape
    x = x.reshape(batch, groups, channels // groups, *sizes).transpose(0, 2).reshape(channels // groups, groups * batch, *sizes)
    found = torch.ops.aten.convolution(x, grad.transpose(0, 1), None, dilation, padding, stride, False, [0] * len(sizes), groups).transpose(0, 1)
    for n, size in enumerate(kernel):
        found = found.narrow(n + 2, 0, size)
    return found


def _convolution_backward(grad, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, wanted):
    kernel = weight.shape[2:]
    of_x = of_weight = of_bias = None
    if wanted[0]:
        reach = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(grad.shape[2:], stride, padding, dilation, kernel)]
        rest = [0] * len(kernel) if transposed else [size - n for size, n in zip(x.shape[2:], reach)]
        of_x = torch.ops.aten.convolution(grad, weight, None, stride, padding, dilation, not transposed, rest, groups)
    if wanted[1]:
        a, b = (grad, x) if transposed else (x, grad)
        of_weight = _kernel_gradient(a, b, kernel, stride, padding, dilation, groups)
    if wanted[2]:
        of_bias = grad.sum([0, *range(2, grad.dim())])
    return of_x, of_weight, of_bias


def _max_pool_backward(grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    """Each place of a window takes the gradients of the windows whose largest element it is."""
    pair = lambda sizes: list(sizes) * (2 // len(sizes))  # noqa: E731
    kernel, stride, padding, dilation = pair(kernel), pair(stride or kernel), pair(padding), pair(dilation)
    height, width = x.shape[-2:]
    count, (rows, columns) = kernel[0] * kernel[1], grad.shape[-2:]
    places = [
        torch.arange(n, device=x.device)[None, :] * s - p + torch.arange(k, device=x.device)[:, None] * d
        for n, s, p, k, d in zip((rows, columns), stride, padding, kernel, dilation)
    ]
    row, column = places[0][:, None, :, None], places[1][None, :, None, :]
    # Outside of the width is no place of the next row.
    at = torch.where((column >= 0) & (column < width), row * width + column, -1).reshape(count, rows, columns)
    parts = torch.where(indices.unsqueeze(-3) == at, grad.unsqueeze(-3), 0.0).reshape(-1, count, rows, columns)
    if stride == kernel and not any(padding) and dilation == [1, 1]:
        # Windows beside each other.
        parts = parts.reshape(-1, *kernel, rows, columns).permute(0, 3, 1, 4, 2).reshape(-1, rows * kernel[0], columns * kernel[1])
    else:
        one = torch.eye(count, dtype=grad.dtype, device=x.device).reshape(count, 1, *kernel)
        reach = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip((rows, columns), stride, padding, dilation, kernel)]
        rest = [max(size - n, 0) for size, n in zip((height, width), reach)]
        parts = torch.ops.aten.convolution(parts, one, None, stride, padding, dilation, True, rest, 1)
    parts = torch.ops.aten.constant_pad_nd(parts, [0, width - parts.shape[-1], 0, height - parts.shape[-2]])
    return parts.reshape(x.shape)


def _of_heads(x, heads):
    """Keys or values for each head of the queries, some of which may share theirs."""
    return x.repeat_interleave(heads // x.shape[1], 1) if x.shape[1] != heads else x


def _scores(q, k, is_causal, attn_mask, scale):
    scores = q @ k.transpose(-2, -1) * scale
    if is_causal:
        scores = torch.where(torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(), scores, -torch.inf)
    return scores if attn_mask is None else scores + attn_mask


def _attention(rule):
    """torch's rule for attention gives other sums than its operator, which matters if a step ends before the gradients."""

    def forward(q, k, v, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
        k, v = _of_heads(k, q.shape[1]), _of_heads(v, q.shape[1])
        sums = _scores(q, k, is_causal, attn_mask, q.shape[-1] ** -0.5 if scale is None else scale).logsumexp(-1)
        out, _ = rule(q, k, v, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)
        return out, sums if sums.dtype == torch.float64 else sums.float()

    return forward


def _attention_backward(grad, q, k, v, _out, _sums, _dropout, is_causal, *, attn_mask=None, scale=None):
    """The gradients of attention, whose weights are computed again."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    shared, k, v = k.shape[1], _of_heads(k, q.shape[1]), _of_heads(v, q.shape[1])
    scores = _scores(q, k, is_causal, attn_mask, scale)
    weights = scores.softmax(-1)
    of_weights = grad @ v.transpose(-2, -1)
    of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True)) * scale
    of_shared = lambda x: x.unflatten(1, (shared, -1)).sum(2)  # noqa: E731
    return of_scores @ k, of_shared(of_scores.transpose(-2, -1) @ q), of_shared(weights.transpose(-2, -1) @ grad)


def _weight_norm_backward(grad, v, g, norms, dim):
    product = (grad * v).sum([n for n in range(v.dim()) if n != dim], keepdim=True) / norms
    return (grad - v * (product / norms)) * (g / norms), product


def _multinomial(weights, count, replacement=False, *, generator=None):
    """The largest of the weights over exponential random numbers; with replacement, each time anew."""
    again = (count,) if replacement else (1,)
    found = weights.unsqueeze(-2).expand(*weights.shape[:-1], *again, weights.shape[-1])
    found = found / -torch.log(torch.rand(found.shape, dtype=weights.dtype, device=weights.device))
    return found.argmax(-1) if replacement else found.squeeze(-2).topk(count).indices


def _bags(indices, offsets):
    """The bag of each index."""
    return (torch.arange(indices.shape[0], device=indices.device).unsqueeze(1) >= offsets.unsqueeze(0)).sum(1) - 1


def _embedding_bag(table, indices, offsets, by_frequency=False, mode=0, sparse=False, weights=None, has_end=False, padding=-1):
    """The largest row of each bag in each column, and which row that is; none where a bag is empty."""
    if mode != 2:
        return NotImplemented
    bags, count = _bags(indices, offsets), offsets.shape[0] - has_end
    is_in = (bags.unsqueeze(1) == torch.arange(count, device=indices.device)) & (indices != padding).unsqueeze(1)
    found, at = torch.where(is_in.unsqueeze(-1), table.index_select(0, indices).unsqueeze(1), -torch.inf).max(0)
    sizes = is_in.sum(0)
    is_full = (sizes > 0).unsqueeze(1)
    return torch.where(is_full, found, 0.0), bags, sizes, torch.where(is_full, indices[at], -1)


def _embedding_bag_backward(grad, indices, offsets, _bags_of, _sizes, largest, count, by_frequency, mode, sparse, weights, padding=-1):
    """Each row of a bag takes the bag's gradient; of the mean, its part; of the largest, all or nothing."""
    if sparse:
        return NotImplemented
    if mode == 2:
        parts = torch.where(largest < 0, 0.0, grad)
        return grad.new_zeros(count, grad.shape[1]).scatter_add(0, largest.clamp_min(0), parts)
    bags = _bags(indices, offsets)
    each = grad.index_select(0, bags)
    if mode == 1:
        each = each / ((bags.unsqueeze(1) == bags.unsqueeze(0)) & (indices != padding).unsqueeze(0)).sum(1, keepdim=True)
    if weights is not None:
        each = each * weights.unsqueeze(1)
    return torch.ops.aten.embedding_dense_backward(each, indices, count, padding, by_frequency)


def _as_strided_scatter(whole, part, size, stride, offset=None):
    """A part that lies in one piece, as gradients do in the buckets of DistributedDataParallel."""
    count, start = part.numel(), whole.storage_offset() if offset is None else offset
    if not whole.is_contiguous() or torch.empty(size, device="meta").stride() != tuple(stride) or start + count > whole.numel():
        return NotImplemented
    return torch.ops.aten.slice_scatter(whole.reshape(-1), part.reshape(-1), 0, start, start + count).reshape(whole.shape)


def _resized(resize):
    """Of an image that was made larger or smaller: each direction is a product with the weights of its pixels."""

    def backward(grad, sizes, shape, aligns, *scales):
        scales = (*scales, None, None)
        # What becomes of each pixel alone, in one direction and then the other. Of images one pixel wide torch makes something else.
        row = torch.eye(shape[-2], dtype=grad.dtype, device=grad.device).reshape(1, shape[-2], shape[-2], 1).repeat(1, 1, 1, 2)
        column = torch.eye(shape[-1], dtype=grad.dtype, device=grad.device).reshape(1, shape[-1], 1, shape[-1]).repeat(1, 1, 2, 1)
        rows = resize(row, [sizes[0], 2], aligns, scales[0], None)[0, :, :, 0]
        columns = resize(column, [2, sizes[1]], aligns, None, scales[1])[0, :, 0]
        return rows @ grad @ columns.transpose(0, 1)

    return backward


def _of_directions(grad, sizes, along):
    """The gradient of an operator that does the same along each direction: ``along(rows, n)`` says what becomes of each number of direction ``n`` alone."""
    for n, size in enumerate(sizes):
        dimension = n - len(sizes)
        rows = along(torch.eye(size, dtype=grad.dtype, device=grad.device).unsqueeze(1), n).squeeze(1)
        grad = (grad.transpose(dimension, -1) @ rows.transpose(0, 1)).transpose(dimension, -1)
    return grad


def _average_pool_backward(count):
    def backward(grad, x, kernel, stride, padding, rounds_up, counts_padding, divisor):
        each = lambda values: list(values) * (count // len(values))  # noqa: E731
        kernel, stride, padding = each(kernel), each(stride or kernel), each(padding)
        if divisor is not None:
            if rounds_up:
                return NotImplemented
            grad, counts_padding = grad * (math.prod(kernel) / divisor), True
        along = lambda rows, n: torch.ops.aten.avg_pool1d(rows, kernel[n : n + 1], stride[n : n + 1], padding[n : n + 1], rounds_up, counts_padding)  # noqa: E731
        return _of_directions(grad, x.shape[-count:], along)

    return backward


def _adaptive_average_backward(count):
    def backward(grad, x):
        return _of_directions(grad, x.shape[-count:], lambda rows, n: torch.ops.aten.adaptive_avg_pool1d(rows, [grad.shape[n - count]]))

    return backward


def _repeated_edges_backward(grad, x, padding):
    count = len(padding) // 2
    return _of_directions(grad, x.shape[-count:], lambda rows, n: torch.ops.aten.replication_pad1d(rows, padding[2 * (count - 1 - n) :][:2]))


def _stretched(resize, flags):
    """As ``_resized``, for operators that exist for one direction too."""

    def backward(grad, sizes, shape, *how):
        scales = (*how[flags:], None, None, None)
        return _of_directions(grad, shape[2:], lambda rows, n: resize(rows, [sizes[n]], *how[:flags], scales[n]))

    return backward


def _largest_backward(count):
    """Each number takes the gradients of the windows whose largest it is; the last argument says which."""

    def backward(grad, x, *rest):
        places, parts = rest[-1].flatten(-count), grad.flatten(-count)
        return torch.zeros_like(x).flatten(-count).scatter_add(-1, places, parts).reshape(x.shape)

    return backward


def _shrink_backward(grad, x, most):
    return torch.where(x.abs() > most, grad, 0.0)


def _distances_backward(grad, x, y, p, distances):
    if p != 2:
        return NotImplemented
    shares = torch.where(distances == 0, 0.0, grad / distances)
    return shares.sum(-1, keepdim=True) * x - shares @ y


def _backward_rules():
    """The gradients of operators that the device has no operator for, by their names."""
    aten, found = torch.ops.aten, {"_cdist_backward": _distances_backward, "max_pool3d_with_indices_backward": _largest_backward(3)}
    for count in (1, 2, 3):
        found[f"replication_pad{count}d_backward"] = _repeated_edges_backward
        found[f"upsample_nearest{count}d_backward"] = _stretched(aten.upsample_nearest1d, 0)
        found[f"_upsample_nearest_exact{count}d_backward"] = _stretched(aten._upsample_nearest_exact1d, 0)
    for kind in ("linear1d", "bilinear2d", "trilinear3d"):
        found[f"upsample_{kind}_backward"] = _stretched(aten.upsample_linear1d, 1)
    for count in (2, 3):
        found[f"avg_pool{count}d_backward"] = _average_pool_backward(count)
        found[f"_adaptive_avg_pool{count}d_backward"] = _adaptive_average_backward(count)
        found[f"adaptive_max_pool{count}d_backward"] = _largest_backward(count)
    for name in ("upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
        found[f"{name}_backward"] = _resized(getattr(aten, name))
    for kind in ("softshrink", "hardshrink"):
        found[f"{kind}_backward"] = _shrink_backward
    return {getattr(aten, name).default: rule for name, rule in found.items()}


def rules():
    """How ``torch.export`` writes a step: torch's rules for the core operators, and those of gradients that the device has no operator for."""
    aten, table = torch.ops.aten, torch.export.default_decompositions()
    for function in (aten._native_batch_norm_legit_functional.default, aten.native_batch_norm_backward.default):
        table[function] = torch._decomp.decomposition_table[function]
    table[aten.convolution_backward.default] = _convolution_backward
    table[aten.max_pool2d_with_indices_backward.default] = _max_pool_backward
    attention = aten._scaled_dot_product_flash_attention_for_cpu.default
    table[attention] = _attention(table[attention])
    table[aten._scaled_dot_product_flash_attention_for_cpu_backward.default] = _attention_backward
    table[aten._weight_norm_interface_backward.default] = _weight_norm_backward
    table[aten.multinomial.default] = _multinomial
    table[aten.as_strided_scatter.default] = _as_strided_scatter
    table[aten._embedding_bag.default] = _embedding_bag
    table[aten._embedding_bag_backward.default] = _embedding_bag_backward
    table[aten._is_all_true.default], table[aten._is_any_true.default] = torch.all, torch.any
    table[aten.exponential.default] = lambda x, rate=1.0, generator=None: -torch.log(torch.rand(x.shape, dtype=x.dtype, device=x.device)) / rate
    table.update(_backward_rules())
    # The order of a tensor's numbers in memory is the device's own.
    table[torch.ops.prims.copy_strided.default] = lambda x, _strides: x.clone()
    return table
