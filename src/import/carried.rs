//! Lets another program read a model: the request and the answer are postcard bytes.
//!
//! On the page the readers are a separate program. [`read_elsewhere`] is called in a program without readers, [`read_carried`] in the program
//! with the readers; the shell passes the bytes between the two.

use super::{ImportError, ImportOptions, Imported, ModelBytes, read_model};
use ns_base::refuse;

/// Lets another program read a model. `carry` passes the options to it as bytes and returns its answer.
///
/// # Errors
/// When the reader refuses the file, when `carry` fails, or when the answer comes from another build.
pub fn read_elsewhere(
    options: &ImportOptions,
    carry: impl FnOnce(&[u8]) -> Result<Vec<u8>, ImportError>,
) -> Result<Imported, ImportError> {
    let options = postcard::to_allocvec(options).map_err(not_carried)?;
    let answer = carry(&options)?;
    postcard::from_bytes::<Result<Imported, ImportError>>(&answer).map_err(not_carried)?
}

/// Reads a model for another program, which called [`read_elsewhere`]. Errors are part of the answer.
#[must_use]
pub fn read_carried(name: &str, bytes: &dyn ModelBytes, options: &[u8]) -> Vec<u8> {
    let read = postcard::from_bytes::<ImportOptions>(options)
        .map_err(not_carried)
        .and_then(|options| read_model(name, bytes, &options));
    // Writing to memory does not fail. If it did, the other side would report an empty answer as an error.
    postcard::to_allocvec(&read).unwrap_or_default()
}

fn not_carried(error: postcard::Error) -> ImportError {
    ImportError::from(refuse!(
        instead = "reload the page, and open the file again",
        "the program that reads model files is of another build ({error})"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const HLO: &str = "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY main {\n  p = f32[2]{0} parameter(0)\n  c = f32[2]{0} constant({nan, -0})\n  ROOT t = f32[2]{0} add(p, c)\n}\n";

    fn through_bytes(name: &str, file: &str, options: &ImportOptions) -> Result<Imported, ImportError> {
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
        let open = ImportOptions { dims: BTreeMap::from([("batch".to_owned(), 3)]), looks_only: true };
        for (file, options) in [("no model", &own), (&HLO[..120], &own), (HLO, &open)] {
            let direct = read_model("m.hlo", &file.as_bytes().to_vec(), options);
            let carried = through_bytes("m.hlo", file, options);
            assert_eq!(format!("{carried:?}"), format!("{direct:?}"));
        }
        assert!(through_bytes("m.hlo", "no model", &own).is_err());
    }

    #[test]
    fn an_answer_that_is_none_is_an_error_that_says_what_to_do() {
        let own = ImportOptions::default();
        for answer in [vec![], vec![0], vec![7, 1, 2], vec![0xff; 40]] {
            let error = read_elsewhere(&own, |_| Ok(answer)).unwrap_err().to_string();
            assert!(error.contains("another build") && error.contains("reload the page"), "{error}");
        }
        assert_eq!(read_carried("m", &Vec::new(), &[9, 9]), postcard_of_error(&[9, 9]));
        let refused = ImportError::from(refuse!(instead = "try again", "offline"));
        assert_eq!(read_elsewhere(&own, |_| Err(refused.clone())), Err(refused));
    }

    fn postcard_of_error(options: &[u8]) -> Vec<u8> {
        let error = postcard::from_bytes::<ImportOptions>(options).unwrap_err();
        postcard::to_allocvec(&Err::<Imported, _>(not_carried(error))).unwrap()
    }
}
