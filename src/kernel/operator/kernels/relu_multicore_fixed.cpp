// ReLU on all processors, for any number of elements: each slice begins where the one before it ends.
#include <stdint.h>
#include <stdlib.h>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>

static constexpr size_t buffer_size = 1024;

torch::Tensor relu_forward(const torch::Tensor& t_in) {
  size_t elements = t_in.numel();
  torch::Tensor t_out = get_dst_tensor();

  uint32_t id = get_cpu_id();
  uint32_t processors = get_cpu_count();
  size_t first = elements * id / processors;
  size_t slice = elements * (id + 1) / processors - first;

  float *buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  if (buffer != nullptr) {
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    for (size_t start = 0; start < slice; start += buffer_size) {
      size_t left = slice - start;
      size_t count = (left > buffer_size) ? buffer_size : left;
      in.tensor_to_tcm<float>(buffer, first + start, count);
      for (size_t i = 0; i < count; i++) {
        buffer[i] = buffer[i] > 0.0 ? buffer[i] : 0.0;
      }
      out.tcm_to_tensor<float>(buffer, first + start, count);
    }
  }
  torch::neuron::tcm_free(buffer);
  return t_out;
}

torch::Tensor relu_backward(const torch::Tensor& t_grad, const torch::Tensor& t_in) {
  size_t elements = t_in.numel();
  torch::Tensor t_out = get_dst_tensor();

  uint32_t id = get_cpu_id();
  uint32_t processors = get_cpu_count();
  size_t first = elements * id / processors;
  size_t slice = elements * (id + 1) / processors - first;

  float *grads = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  float *inputs = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  if (grads != nullptr && inputs != nullptr) {
    auto grad = t_grad.tcm_accessor();
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    for (size_t start = 0; start < slice; start += buffer_size) {
      size_t left = slice - start;
      size_t count = (left > buffer_size) ? buffer_size : left;
      grad.tensor_to_tcm<float>(grads, first + start, count);
      in.tensor_to_tcm<float>(inputs, first + start, count);
      for (size_t i = 0; i < count; i++) {
        grads[i] = inputs[i] > 0.0 ? grads[i] : 0.0;
      }
      out.tcm_to_tensor<float>(grads, first + start, count);
    }
  }
  torch::neuron::tcm_free(inputs);
  torch::neuron::tcm_free(grads);
  return t_out;
}
