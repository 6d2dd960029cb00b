// ReLU on all processors, as the tutorial divides the work. The offset multiplies the processor's own length, which is
// wrong for the last one when the elements do not divide evenly: try --input 1003.
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
  uint32_t slice = elements / processors;
  if (id == processors - 1) {
    slice = elements - slice * (processors - 1);
  }

  float *buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  if (buffer != nullptr) {
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    for (size_t start = 0; start < slice; start += buffer_size) {
      size_t left = slice - start;
      size_t count = (left > buffer_size) ? buffer_size : left;
      in.tensor_to_tcm<float>(buffer, slice * id + start, count);
      for (size_t i = 0; i < count; i++) {
        buffer[i] = buffer[i] > 0.0 ? buffer[i] : 0.0;
      }
      out.tcm_to_tensor<float>(buffer, slice * id + start, count);
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
  uint32_t slice = elements / processors;
  if (id == processors - 1) {
    slice = elements - slice * (processors - 1);
  }

  float *grads = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  float *inputs = (float*)torch::neuron::tcm_malloc(sizeof(float) * buffer_size);
  if (grads != nullptr && inputs != nullptr) {
    auto grad = t_grad.tcm_accessor();
    auto in = t_in.tcm_accessor();
    auto out = t_out.tcm_accessor();
    for (size_t start = 0; start < slice; start += buffer_size) {
      size_t left = slice - start;
      size_t count = (left > buffer_size) ? buffer_size : left;
      grad.tensor_to_tcm<float>(grads, slice * id + start, count);
      in.tensor_to_tcm<float>(inputs, slice * id + start, count);
      for (size_t i = 0; i < count; i++) {
        grads[i] = inputs[i] > 0.0 ? grads[i] : 0.0;
      }
      out.tcm_to_tensor<float>(grads, slice * id + start, count);
    }
  }
  torch::neuron::tcm_free(inputs);
  torch::neuron::tcm_free(grads);
  return t_out;
}
