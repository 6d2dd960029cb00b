//! The entries of the register that are figures of a core's specification.

use super::entry::{CostStatus, Entry};
use crate::arch::CoreSpec;

const GUIDE: &str = "architecture guides of NKI for each generation";

macro_rules! core_entries {
    ($($field:ident, $unit:literal, $status:ident, $source:expr;)*) => {
        pub(super) fn core_entries(cores: [&CoreSpec; 3]) -> Vec<Entry> {
            // A field that is added to the specification must be listed here.
            let CoreSpec { name: _, $($field: _,)* } = cores[0];
            vec![$(Entry::of(
                ("Core", stringify!($field)),
                cores.map(|c| &c.$field),
                ($unit, CostStatus::$status, $source),
            )),*]
        }
    };
}

core_entries! {
    tensor_mhz, "MHz", Published, GUIDE;
    vector_mhz, "MHz", Published, GUIDE;
    scalar_mhz, "MHz", Published, GUIDE;
    gpsimd_mhz, "MHz", Published, GUIDE;
    partitions, "rows, columns, partitions", Published, GUIDE;
    moving_free_max, "elements", Published, "architecture guide: one PSUM bank of fp32";
    sbuf_bytes, "bytes", Published, GUIDE;
    psum_bytes, "bytes", Published, GUIDE;
    psum_banks, "banks of a partition", Published, GUIDE;
    dma_engines, "engines", Published, GUIDE;
    hbm_bytes, "bytes", Derived, "memory of a device over its cores; decides what fits, no time";
    hbm_bytes_per_us, "bytes/us", Derived,
        "bandwidth of a device's memory over its cores (820 GB/s for two cores of v2); metrics only: no transfer is timed by it";
    fp8_rows_per_partition, "rows of one pass", Published,
        "architecture guide of Trainium2: the double row mode of 8-bit products";
    physical_cores, "cores", Published,
        "one, unless `--lnc` joins two; work is split evenly and nothing is exchanged between them";
}
