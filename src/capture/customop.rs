//! A call of a custom operator as a profile: a row for each GPSIMD processor.

use ns_base::Diagnostics;
use ns_base::convert::u64_to_i64;
use ns_kernel::{CoreMeter, Kind};
use ns_profile::{Profile, ProfileBuilder};

/// Picoseconds per nanosecond.
const PS: u64 = 1_000;

/// The timeline of one call. Slices are named by the processor's work and carry the source line on which it began;
/// work shorter than a nanosecond has a length of zero.
pub fn build_customop_profile(kernel: &str, processors: &[CoreMeter]) -> Profile {
    let mut builder = ProfileBuilder::new("simulated custom operator");
    builder.set_title(kernel);
    let process = builder.process("gpsimd", "GpSimd");
    for (number, meter) in processors.iter().enumerate() {
        let track = builder.thread(process, &number.to_string(), &format!("processor {number}"));
        for segment in meter.segments() {
            let (start, end) = (segment.start_ps / PS, segment.end_ps / PS);
            let (name, category) = match segment.kind {
                Kind::HbmAccess => ("element access", "memory"),
                Kind::Dma => ("copy", "dma"),
                Kind::TensorMove => ("fill or copy of a tensor", "dma"),
                Kind::Compute => ("instructions", "compute"),
            };
            let args = format!("{{\"line\":{}}}", segment.line);
            builder.slice(track, u64_to_i64(start), u64_to_i64(end - start), name, category, Some(&args));
        }
    }
    builder.finish(Diagnostics::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_formats::WriteFormat;
    use ns_kernel::built_in;
    use ns_machine::cost::CostTable;
    use ns_neuron::gpsimd::{CustomOpSpec, run_with_processors};

    #[test]
    fn every_processor_has_a_row_that_ends_with_its_time() {
        let kernel = built_in("relu-multicore-fixed").unwrap();
        let mut spec = CustomOpSpec::new(kernel.name, kernel.source, true);
        spec.layers = vec![8, 16, 4];
        spec.input = Some(vec![20_000]);
        let (report, processors) = run_with_processors(&spec, &CostTable::neuroncore_v2()).unwrap();
        assert_eq!(processors.len(), 8);
        for (meter, ns) in processors.iter().zip(&report.cores_ns) {
            let last = meter.segments().last().unwrap();
            assert_eq!(last.end_ps, meter.total_ps());
            assert!((meter.total_ps() as f64 / 1_000.0 - ns).abs() < 1e-9);
            assert!(meter.segments().windows(2).all(|s| s[0].end_ps == s[1].start_ps));
            // 2,500 elements are three blocks: three copies in and three out.
            assert_eq!(meter.segments().iter().filter(|s| s.kind == Kind::Dma).count(), 6);
        }
        let profile = build_customop_profile("relu", &processors);
        let text = String::from_utf8(WriteFormat::Chrome.write(&profile)).unwrap();
        assert!(text.contains("processor 7") && text.contains("instructions"));
    }
}
