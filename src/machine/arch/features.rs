//! The features of a generation of NeuronCores, apart from its speed.

/// Formats and groupings that a generation supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreFeatures {
    /// Name as the documentation writes it: `NeuronCore-v2`.
    pub name: &'static str,
    /// Products in TensorFloat (data types page: v2 and later; v1 has FP32, FP16 and BF16).
    pub tf32: bool,
    /// Products in `F8E4M3` (data types page and compiler error codes: v2 to v4).
    pub fp8_e4m3: bool,
    /// Stochastic rounding (rounding modes page: v2 and later).
    pub stochastic_rounding: bool,
    /// Physical cores that one logical core may have (logical NeuronCore configuration page: Trn2).
    pub lnc: &'static [u32],
    /// Physical cores of a logical core by default (2 on Trn2).
    pub default_lnc: u32,
}

/// The features of a generation, 1 to 4; `None` for any other.
pub fn features(core_version: u8) -> Option<CoreFeatures> {
    let later =
        |name| CoreFeatures { name, tf32: true, fp8_e4m3: true, stochastic_rounding: true, lnc: &[1], default_lnc: 1 };
    match core_version {
        1 => Some(CoreFeatures {
            name: "NeuronCore-v1",
            tf32: false,
            fp8_e4m3: false,
            stochastic_rounding: false,
            lnc: &[1],
            default_lnc: 1,
        }),
        2 => Some(later("NeuronCore-v2")),
        3 => Some(CoreFeatures { lnc: &[1, 2], default_lnc: 2, ..later("NeuronCore-v3") }),
        // Core counts of Trn3 are published for physical cores only.
        4 => Some(later("NeuronCore-v4")),
        _ => None,
    }
}
