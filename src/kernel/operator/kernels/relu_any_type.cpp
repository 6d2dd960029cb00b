// ReLU of tensors of any number type: a template does the work, and the tensor says for which type. A block has the
// same number of bytes for every type, so that smaller elements need fewer copies.
#include <stdint.h>
#include <stdlib.h>
#include <algorithm>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>

static constexpr size_t block_bytes = 4096;

template <typename T>
void relu_blocks(const torch::Tensor& t_in, torch::Tensor& t_out) {
  static constexpr size_t block = block_bytes / sizeof(T);
  T *buffer = (T*)torch::neuron::tcm_malloc(block_bytes);
  if (buffer != nullptr) {
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    size_t elements = t_in.numel();
    for (size_t start = 0; start < elements; start += block) {
      size_t count = std::min(block, elements - start);
      in.tensor_to_tcm<T>(buffer, start, count);
      for (size_t i = 0; i < count; i++) {
        buffer[i] = buffer[i] > 0 ? buffer[i] : 0;
      }
      out.tcm_to_tensor<T>(buffer, start, count);
    }
  }
  torch::neuron::tcm_free(buffer);
}

torch::Tensor relu_forward(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::empty(t_in.sizes(), t_in.dtype());
  if (t_in.dtype() == torch::kFloat) {
    relu_blocks<float>(t_in, t_out);
  } else if (t_in.dtype() == torch::kLong) {
    relu_blocks<int64_t>(t_in, t_out);
  } else if (t_in.dtype() == torch::kInt) {
    relu_blocks<int32_t>(t_in, t_out);
  } else if (t_in.dtype() == torch::kShort) {
    relu_blocks<int16_t>(t_in, t_out);
  } else if (t_in.dtype() == torch::kChar) {
    relu_blocks<int8_t>(t_in, t_out);
  } else {
    relu_blocks<uint8_t>(t_in, t_out);
  }
  return t_out;
}

template <typename T>
void masked_blocks(const torch::Tensor& t_grad, const torch::Tensor& t_in, torch::Tensor& t_out) {
  static constexpr size_t block = block_bytes / sizeof(T);
  T *grads = (T*)torch::neuron::tcm_malloc(block_bytes);
  T *inputs = (T*)torch::neuron::tcm_malloc(block_bytes);
  if (grads != nullptr && inputs != nullptr) {
    auto grad = t_grad.tcm_accessor();
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    size_t elements = t_in.numel();
    for (size_t start = 0; start < elements; start += block) {
      size_t count = std::min(block, elements - start);
      grad.tensor_to_tcm<T>(grads, start, count);
      in.tensor_to_tcm<T>(inputs, start, count);
      for (size_t i = 0; i < count; i++) {
        grads[i] = inputs[i] > 0 ? grads[i] : 0;
      }
      out.tcm_to_tensor<T>(grads, start, count);
    }
  }
  torch::neuron::tcm_free(inputs);
  torch::neuron::tcm_free(grads);
}

// Gradients are floats.
torch::Tensor relu_backward(const torch::Tensor& t_grad, const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::empty(t_in.sizes(), torch::kFloat);
  masked_blocks<float>(t_grad, t_in, t_out);
  return t_out;
}
