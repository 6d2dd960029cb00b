//! Records from a file of any kind.

use super::{idx, npy, npz, table};
use ns_base::{Diagnostics, Refusal, refuse};

/// Records of numbers, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// How many there are.
    pub count: u64,
    /// Sizes of one record: `[28, 28]`; for a table, its number of columns.
    pub dims: Vec<u64>,
    /// Names of the columns of a table that has a heading.
    pub columns: Vec<String>,
    /// All values, record after record.
    pub values: Vec<f64>,
    /// Lines and records that could not be read and are left out.
    pub diagnostics: Diagnostics,
}

/// Most bytes of a file that gzip packs.
const MOST_UNPACKED: usize = 1 << 30;

/// Reads the records of a file, which may name an array of an archive (`mnist.npz:x_test`); the content decides its kind, not the
/// name. Fails when it holds no record. Lines of a table that are wrong are left out and listed.
pub fn read_records(file: &str, bytes: &[u8]) -> Result<Records, Refusal> {
    if ns_container::gzip::is_gzip(bytes) {
        let unpacked = ns_container::gzip::gunzip(bytes, MOST_UNPACKED);
        return read_plain(file, &unpacked.map_err(|e| e.within(|what| format!("{file}: {what}")))?);
    }
    read_plain(file, bytes)
}

/// The records of a file that is not packed by gzip.
fn read_plain(file: &str, bytes: &[u8]) -> Result<Records, Refusal> {
    let not_read = |problem: &str| not_read(file, problem);
    if bytes.starts_with(ns_container::npy::MAGIC) {
        return npy::read(file, bytes);
    }
    if ns_container::zip::is_zip(bytes) {
        return npz::read(file, bytes);
    }
    if idx::is_idx(bytes) {
        return idx::read(file, bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(not_read("is empty")),
        Ok(text) => table::read(file, text.trim_start_matches('\u{feff}')),
        Err(e) => Err(not_read(&format!("is neither an array nor text (byte {})", e.valid_up_to()))),
    }
}

fn not_read(file: &str, problem: &str) -> Refusal {
    refuse!(
        "{file}: {problem}; give an array saved with numpy.save (.npy, .npz), an IDX file as MNIST has, or a CSV with a line of numbers for each record"
    )
}

impl Records {
    /// Values of one record.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |n, d| n.saturating_mul(*d))
    }

    /// The values of each record.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(usize::try_from(self.elements()).unwrap_or(usize::MAX).max(1))
    }

    /// The records without the target column, and the targets. Without a name, the last column is the target. Fails when the column
    /// does not exist, or is the only one.
    pub fn with_targets(&self, file: &str, name: Option<&str>) -> Result<(Self, Vec<f64>), Refusal> {
        let no_column = |name: &str| {
            let known = if self.columns.is_empty() { "no names".to_owned() } else { self.columns.join(", ") };
            refuse!("{file}: there is no column '{name}'; the columns are {known}")
        };
        let [columns] = self.dims[..] else {
            let problem = format!("a record has the sizes {}, which leaves no column for a target", self.shape());
            return Err(not_read(file, &problem));
        };
        let columns = usize::try_from(columns).unwrap_or(usize::MAX);
        let target = match name {
            Some(name) => self.columns.iter().position(|c| c == name).ok_or_else(|| no_column(name))?,
            None => columns.saturating_sub(1),
        };
        if columns < 2 {
            return Err(not_read(
                file,
                "has one column; a dataset with targets needs columns for the inputs and the target",
            ));
        }
        let mut rest = Self { dims: vec![columns as u64 - 1], values: Vec::new(), ..self.clone() };
        if target < rest.columns.len() {
            rest.columns.remove(target);
        }
        let mut targets = Vec::new();
        for record in self.iter() {
            targets.extend(record.get(target));
            rest.values.extend(record.iter().enumerate().filter(|(c, _)| *c != target).map(|(_, v)| v));
        }
        Ok((rest, targets))
    }

    /// The sizes of one record in words: `28x28`.
    pub fn shape(&self) -> String {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        if sizes.is_empty() { "one value".to_owned() } else { sizes.join("x") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_from_their_column() {
        let records = read_records("a.csv", b"a,label,b\n1,7,2\n3,8,4\n").unwrap();
        let (rest, targets) = records.with_targets("a.csv", Some("label")).unwrap();
        assert_eq!(
            (rest.columns, rest.values, targets),
            (vec!["a".into(), "b".into()], vec![1.0, 2.0, 3.0, 4.0], vec![7.0, 8.0])
        );
        let (rest, targets) = records.with_targets("a.csv", None).unwrap();
        assert_eq!((rest.dims, targets), (vec![2], vec![2.0, 4.0]));
        let error = records.with_targets("a.csv", Some("y")).unwrap_err().to_string();
        assert_eq!(error, "a.csv: there is no column 'y'; the columns are a, label, b");
        let one = read_records("b.csv", b"1\n2\n").unwrap();
        assert!(one.with_targets("b.csv", None).unwrap_err().to_string().contains("has one column"));
    }

    #[test]
    fn what_is_no_dataset_says_what_it_is() {
        let said = |bytes: &[u8]| read_records("x", bytes).unwrap_err().to_string();
        assert!(said(b"").contains("x: is empty; give an array saved with numpy.save"));
        assert!(said(b"PK\x03\x04....").starts_with("x: the archive"));
        assert!(said(b"\xff\xfe").contains("neither an array nor text (byte 0)"));
    }
}
