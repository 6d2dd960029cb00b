//! Reads a model for another program.

use ns_container::ByteSource;

use crate::read_model;

/// Reads a model for another program, which called [`read_elsewhere`](ns_program::read_elsewhere). Errors are part of the answer.
pub fn read_carried(name: &str, bytes: &dyn ByteSource, options: &[u8]) -> Vec<u8> {
    ns_program::answer(options, |options| read_model(name, bytes, options))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use ns_program::{ImportError, ImportOptions, ImportedModel, read_elsewhere};

    const HLO: &str = "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY main {\n  p = f32[2]{0} parameter(0)\n  c = f32[2]{0} constant({nan, -0})\n  ROOT t = f32[2]{0} add(p, c)\n}\n";

    fn through_bytes(name: &str, file: &str, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
        let bytes = file.as_bytes().to_vec();
        read_elsewhere(options, |options| Ok(read_carried(name, &bytes, options)))
    }

    #[test]
    fn a_model_and_an_error_arrive_as_they_were() {
        let own = ImportOptions::default();
        let (direct, carried) =
            (read_model("m.hlo", &HLO.as_bytes().to_vec(), &own), through_bytes("m.hlo", HLO, &own));
        // The program holds NaNs, which are never equal; its text is compared instead.
        assert_eq!(format!("{:?}", carried.unwrap()), format!("{:?}", direct.unwrap()));
        let open = ImportOptions { dims: BTreeMap::from([("batch".to_owned(), 3)]), display_only: true };
        for (file, options) in [("no model", &own), (&HLO[..120], &own), (HLO, &open)] {
            let direct = read_model("m.hlo", &file.as_bytes().to_vec(), options);
            let carried = through_bytes("m.hlo", file, options);
            assert_eq!(format!("{carried:?}"), format!("{direct:?}"));
        }
        assert!(through_bytes("m.hlo", "no model", &own).is_err());
    }
}
