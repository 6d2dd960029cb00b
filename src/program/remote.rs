//! Lets another program read a model: the request and the answer are postcard bytes.
//!
//! On the page the readers are a separate program. [`read_elsewhere`] is called in a program without readers, [`answer`] in the program
//! with the readers; the shell passes the bytes between the two.

use ns_base::{Refusal, refuse};

use crate::{ImportError, ImportOptions, ImportedModel};

/// Lets another program read a model. `carry` passes the options to it as bytes and returns its answer. Fails when the reader
/// refuses the file, when `carry` fails, or when the answer comes from another build.
pub fn read_elsewhere(
    options: &ImportOptions,
    carry: impl FnOnce(&[u8]) -> Result<Vec<u8>, ImportError>,
) -> Result<ImportedModel, ImportError> {
    let options = postcard::to_allocvec(options).map_err(not_carried)?;
    let answer = carry(&options)?;
    postcard::from_bytes::<Result<ImportedModel, ImportError>>(&answer).map_err(not_carried)?
}

/// The answer for a program that called [`read_elsewhere`], which sent `options`. Errors of `read` are part of the answer.
pub fn answer(options: &[u8], read: impl FnOnce(&ImportOptions) -> Result<ImportedModel, ImportError>) -> Vec<u8> {
    let options = postcard::from_bytes::<ImportOptions>(options).map_err(not_carried);
    let imported = options.map_err(ImportError::from).and_then(|options| read(&options));
    // Writing to memory does not fail. If it did, the other side would report an empty answer as an error.
    postcard::to_allocvec(&imported).unwrap_or_default()
}

fn not_carried(error: postcard::Error) -> Refusal {
    refuse!(
        instead = "reload the page, and open the file again",
        "the program that reads model files is of another build ({error})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_answer_is_an_error_with_advice() {
        let own = ImportOptions::default();
        for answer in [vec![], vec![0], vec![7, 1, 2], vec![0xff; 40]] {
            let error = read_elsewhere(&own, |_| Ok(answer)).unwrap_err().to_string();
            assert!(error.contains("another build") && error.contains("reload the page"), "{error}");
        }
        let refused = ImportError::from(refuse!(instead = "try again", "offline"));
        assert_eq!(read_elsewhere(&own, |_| Err(refused.clone())), Err(refused));
    }

    #[test]
    fn options_of_another_build_are_an_error_for_the_program_that_sent_them() {
        let answer = answer(&[9, 9], |_| unreachable!("there are no options"));
        let error = read_elsewhere(&ImportOptions::default(), |_| Ok(answer)).unwrap_err().to_string();
        assert!(error.contains("another build") && error.contains("reload the page"), "{error}");
    }
}
