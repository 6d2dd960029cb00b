"""Operators of torch that update all weights at once, as the operators that a program of the device has."""

from __future__ import annotations

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
