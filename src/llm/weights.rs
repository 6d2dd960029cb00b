//! How the weights of products are stored, and how long one takes to stream.

use std::fmt;
use std::str::FromStr;

use ns_base::{Refusal, refuse};
use serde_json::Value;

/// The storage of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weights {
    /// 16 bits, of either kind.
    #[default]
    Bf16,
    /// One byte, converted on the core before each product.
    Int8,
    /// One byte that the array reads as it is.
    Fp8,
    /// Four bits with a scale for each group of 128 (gptq, awq), converted on the core.
    Int4,
    /// Four bits with a scale for each block of 32: the array of Trn3 reads them, other cores convert them.
    Mxfp4,
}

/// What is known of a storage.
struct Row {
    weights: Weights,
    names: &'static [&'static str],
    /// Bits of a weight in memory, with its part of the scales, thousandths.
    millibits: u64,
    /// Bytes that take as long to stream as a weight with its conversion, tenths: on cores whose array does not read it, and on those of the first
    /// generation whose array does.
    converted_tenths: u64,
    read_tenths: u64,
    read_since: u8,
    /// Published rows that tell the time.
    has_rows: bool,
}

/// Every storage. A conversion takes about as long as streaming 16 bits, so a weight that is converted is put between its own bytes and two: of
/// int8 that was chosen with published rows in view, of the others no row is published.
const ROWS: [Row; 5] = [
    Row {
        weights: Weights::Bf16,
        names: &["bf16", "fp16", "bfloat16", "float16"],
        millibits: 16_000,
        converted_tenths: 20,
        read_tenths: 20,
        read_since: 0,
        has_rows: true,
    },
    Row {
        weights: Weights::Int8,
        names: &["int8", "q8", "8bit"],
        millibits: 8_000,
        converted_tenths: 15,
        read_tenths: 15,
        read_since: u8::MAX,
        has_rows: true,
    },
    Row {
        weights: Weights::Fp8,
        names: &["fp8"],
        millibits: 8_000,
        converted_tenths: 15,
        read_tenths: 10,
        read_since: 2,
        has_rows: false,
    },
    Row {
        weights: Weights::Int4,
        names: &["int4", "gptq", "awq", "q4", "4bit"],
        millibits: 4_125,
        converted_tenths: 13,
        read_tenths: 13,
        read_since: u8::MAX,
        has_rows: false,
    },
    Row {
        weights: Weights::Mxfp4,
        names: &["mxfp4"],
        millibits: 4_250,
        converted_tenths: 13,
        read_tenths: 5,
        read_since: 4,
        has_rows: false,
    },
];

/// The storages as texts of a form, each with its label.
pub const WEIGHT_CHOICES: &[(&str, &str)] = &[
    ("", "as its file says, else bf16"),
    ("bf16", "bf16"),
    ("int8", "int8"),
    ("fp8", "fp8"),
    ("int4", "int4 (gptq, awq)"),
    ("mxfp4", "mxfp4"),
];

impl Weights {
    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.weights == self).unwrap_or(&ROWS[0])
    }

    /// Bytes of so many weights in device memory.
    pub fn bytes(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.row().millibits) / 8_000).try_into().unwrap_or(u64::MAX)
    }

    /// Bytes that take as long to stream as a weight, tenths, on cores of a version.
    pub fn stream_tenths(self, core_version: u8) -> u64 {
        let row = self.row();
        if core_version >= row.read_since { row.read_tenths } else { row.converted_tenths }
    }

    /// What is said of a time without published rows.
    pub fn remark(self) -> Option<String> {
        (!self.row().has_rows)
            .then(|| format!("No published row has weights of {self}: how long one takes to stream is chosen."))
    }

    /// The storage that the `quantization_config` of a file says; `None` where it is not timed.
    pub fn of_file(said: &Value) -> Option<Self> {
        let group = said.get("config_groups").and_then(|groups| groups.as_object()?.values().next()?.get("weights"));
        let is_float = group.is_some_and(|weights| weights.get("type").and_then(Value::as_str) == Some("float"));
        let bits = group.and_then(|weights| weights.get("num_bits")).or(said.get("bits")).and_then(Value::as_u64);
        let names = ["quant_method", "quant_algo", "format"].map(|key| said.get(key).and_then(Value::as_str));
        let names = names.map(Option::unwrap_or_default).join(" ").to_ascii_lowercase();
        let is_8bit = bits == Some(8) || said.get("load_in_8bit") == Some(&Value::Bool(true));
        match names {
            names if names.contains("mxfp4") => Some(Self::Mxfp4),
            names if names.contains("fp4") => None,
            names if names.contains("fp8") || (is_8bit && is_float) => Some(Self::Fp8),
            _ if is_8bit => Some(Self::Int8),
            _ if bits == Some(4) && !is_float => Some(Self::Int4),
            names if bits.is_none() && (names.contains("awq") || names.contains("gptq")) => Some(Self::Int4),
            _ => None,
        }
    }
}

impl FromStr for Weights {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let name = text.trim().to_ascii_lowercase();
        let found = ROWS.iter().find(|row| row.names.contains(&name.as_str())).map(|row| row.weights);
        found.ok_or_else(|| refuse!("weights '{text}' are not possible; use bf16, int8, fp8, int4 or mxfp4"))
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().names[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_bits_take_no_longer_and_less_memory() {
        let all = [Weights::Bf16, Weights::Int8, Weights::Fp8, Weights::Int4, Weights::Mxfp4];
        assert_eq!(all.map(|w| w.bytes(128_000)), [256_000, 128_000, 128_000, 66_000, 68_000]);
        for core in 2..=4 {
            assert!(
                all.iter().all(|w| w.stream_tenths(core) <= 20 && w.stream_tenths(core) * 100 >= w.bytes(1_000) - 40)
            );
        }
        assert_eq!([2, 3, 4].map(|core| Weights::Mxfp4.stream_tenths(core)), [13, 13, 5]);
        for (choice, _) in WEIGHT_CHOICES.iter().skip(1) {
            assert_eq!(choice.parse::<Weights>().unwrap().to_string(), *choice);
        }
        assert_eq!("awq".parse::<Weights>(), Ok(Weights::Int4));
    }

    #[test]
    fn the_storage_of_a_file_is_that_of_its_tool() {
        let group = |bits: u64, kind: &str, format: &str| {
            format!(
                r#"{{"quant_method": "compressed-tensors", "format": "{format}", "config_groups":
                {{"group_0": {{"weights": {{"num_bits": {bits}, "type": "{kind}"}}}}}}}}"#
            )
        };
        for (said, weights) in [
            (r#"{"quant_method": "gptq", "bits": 8}"#.to_owned(), Some(Weights::Int8)),
            (r#"{"quant_method": "gptq", "bits": 3}"#.to_owned(), None),
            (r#"{"quant_method": "awq"}"#.to_owned(), Some(Weights::Int4)),
            (r#"{"quant_method": "auto-round", "bits": 4}"#.to_owned(), Some(Weights::Int4)),
            (r#"{"quant_method": "fbgemm_fp8"}"#.to_owned(), Some(Weights::Fp8)),
            (r#"{"quant_method": "modelopt", "quant_algo": "FP8"}"#.to_owned(), Some(Weights::Fp8)),
            (r#"{"quant_method": "modelopt", "quant_algo": "NVFP4"}"#.to_owned(), None),
            (r#"{"quant_method": "bitsandbytes", "load_in_8bit": true}"#.to_owned(), Some(Weights::Int8)),
            (r#"{"quant_method": "bitsandbytes", "load_in_4bit": true}"#.to_owned(), None),
            (r#"{"group_size": 64, "bits": 4}"#.to_owned(), Some(Weights::Int4)),
            (r#"{"quant_method": "mxfp4"}"#.to_owned(), Some(Weights::Mxfp4)),
            (group(8, "float", "float-quantized"), Some(Weights::Fp8)),
            (group(8, "int", "int-quantized"), Some(Weights::Int8)),
            (group(4, "int", "pack-quantized"), Some(Weights::Int4)),
            (group(4, "float", "nvfp4-pack-quantized"), None),
            ("{}".to_owned(), None),
        ] {
            assert_eq!(Weights::of_file(&serde_json::from_str(&said).unwrap()), weights, "{said}");
        }
    }
}
