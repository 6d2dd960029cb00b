//! Images with their channels last, as in JAX and TensorFlow, take the same time as images with their channels first.

use super::on_core::core_time;
use neuronscope::device::Device;
use neuronscope::program::ImportOptions;
use neuronscope::readers::read_hlo_text;

/// Orders in which a model keeps the dimensions of its images and kernels.
#[derive(Clone, Copy)]
enum Order {
    ChannelsFirst,
    ChannelsLast,
}

impl Order {
    /// Sizes of an image with this number of channels and side length.
    fn image(self, channels: u64, sides: &[u64]) -> String {
        let middle: Vec<String> = sides.iter().map(u64::to_string).collect();
        match self {
            Self::ChannelsFirst => format!("f32[1,{channels},{}]", middle.join(",")),
            Self::ChannelsLast => format!("f32[1,{},{channels}]", middle.join(",")),
        }
    }

    fn kernel(self, inputs: u64, outputs: u64, sides: &[u64]) -> String {
        let middle: Vec<String> = sides.iter().map(u64::to_string).collect();
        match self {
            Self::ChannelsFirst => format!("f32[{outputs},{inputs},{}]", middle.join(",")),
            Self::ChannelsLast => format!("f32[{},{inputs},{outputs}]", middle.join(",")),
        }
    }

    fn labels(self, sides: usize) -> &'static str {
        match (self, sides) {
            (Self::ChannelsFirst, 1) => "bf0_oi0->bf0",
            (Self::ChannelsFirst, _) => "bf01_oi01->bf01",
            (Self::ChannelsLast, 1) => "b0f_0io->b0f",
            (Self::ChannelsLast, _) => "b01f_01io->b01f",
        }
    }

    /// The dimension of the channels.
    const fn channels(self, sides: usize) -> usize {
        match self {
            Self::ChannelsFirst => 1,
            Self::ChannelsLast => sides + 1,
        }
    }

    /// A window that moves along the sides only.
    fn window(self, size: u64, stride: u64, sides: usize) -> String {
        let each = |n: u64| {
            let mut all = vec!["1".to_owned(); sides + 2];
            let first = if matches!(self, Self::ChannelsFirst) { 2 } else { 1 };
            all[first..first + sides].fill(n.to_string());
            all.join("x")
        };
        format!("window={{size={} stride={}}}", each(size), each(stride))
    }
}

/// A convolution, a norm by weights, an activation, a pool, a grouped and a depthwise convolution with a sum around it, and a mean.
fn model(order: Order, sides: &[u64]) -> String {
    let n = sides.len();
    let half: Vec<u64> = sides.iter().map(|s| s / 2).collect();
    let window = format!("window={{size={0} pad={1}}}", vec!["3"; n].join("x"), vec!["1_1"; n].join("x"));
    let (labels, at) = (order.labels(n), order.channels(n));
    let (image, wide, small) = (order.image(64, sides), order.image(128, sides), order.image(128, &half));
    let kernel = |inputs: u64, outputs: u64| order.kernel(inputs, outputs, &vec![3; n]);
    let pixels: Vec<String> = (0..n + 2).filter(|d| *d != 0 && *d != at).map(|d| d.to_string()).collect();
    format!(
        "HloModule m
max {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
ENTRY e {{
  input = {image} parameter(0)
  w0 = {k0} parameter(1)
  scale = f32[128] parameter(2)
  shift = f32[128] parameter(3)
  w1 = {k1} parameter(4)
  w2 = {k2} parameter(5)
  c0 = {wide} convolution(input, w0), {window}, dim_labels={labels}
  s = {wide} broadcast(scale), dimensions={{{at}}}
  t = {wide} broadcast(shift), dimensions={{{at}}}
  scaled = {wide} multiply(c0, s)
  shifted = {wide} add(scaled, t)
  zero = f32[] constant(0)
  zeros = {wide} broadcast(zero), dimensions={{}}
  relu = {wide} maximum(shifted, zeros)
  low = f32[] constant(-inf)
  pooled = {small} reduce-window(relu, low), {pool}, to_apply=max
  c1 = {small} convolution(pooled, w1), {window}, dim_labels={labels}, feature_group_count=8
  c2 = {small} convolution(c1, w2), {window}, dim_labels={labels}, feature_group_count=128
  both = {small} add(c2, pooled)
  active = {small} tanh(both)
  ROOT total = f32[1,128] reduce(active, zero), dimensions={{{pixels}}}, to_apply=sum
}}
",
        k0 = kernel(64, 128),
        k1 = kernel(16, 128),
        k2 = kernel(1, 128),
        pool = order.window(2, 2, n),
        pixels = pixels.join(","),
    )
}

/// Microseconds of a call on a core.
fn time(text: &str) -> f64 {
    let imported = read_hlo_text(text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let device = Device::of_instance("inf2.xlarge").unwrap();
    core_time(&device, imported).unwrap().to_ms_f64() * 1e3
}

/// The time allowed for one transpose of the input itself, when it has too many channels to be gathered, and for its shorter rows.
const INPUT_TURN_US: f64 = 3.0;

#[test]
fn channels_first_and_last_take_the_same_time() {
    for sides in [&[56, 56][..], &[512]] {
        let (first, last) = (time(&model(Order::ChannelsFirst, sides)), time(&model(Order::ChannelsLast, sides)));
        println!("{sides:?}: {first:.1} us with the channels first, {last:.1} us with the channels last");
        let most = (0.05 * first).max(INPUT_TURN_US);
        assert!((last - first).abs() < most, "{sides:?}: {first:.1} us and {last:.1} us");
    }
}
