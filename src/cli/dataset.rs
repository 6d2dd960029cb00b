//! Datasets from files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::file::read_within;
use super::shell::Shell;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_bench::dataset::{Records, read_records, split_array};

/// Most bytes of a dataset file. Datasets are read as a whole; a larger one is given by its length.
const MOST_BYTES: u64 = 1 << 30;

/// Reads the records of a file. Fails when it cannot be read, or does not hold a record.
pub(super) fn read(shell: &Shell, path: &Path) -> Result<Records> {
    let place = path.display().to_string();
    let path = Path::new(split_array(&place).0);
    if let Some(bytes) = shell.file(path) {
        return read_records(&place, &bytes).context("--dataset");
    }
    let size = fs::metadata(path)
        .with_context(|| format!("--dataset: {place}: is neither a number of records nor a readable file; of a dataset of torchvision, name the file of its images, such as data/FashionMNIST/raw/t10k-images-idx3-ubyte"))?;
    if size.is_dir() {
        bail!("--dataset: {place}: is a folder; name a file in it");
    }
    if size.len() > MOST_BYTES {
        let (has, most) = (format_bytes(u64_to_f64(size.len())), format_bytes(u64_to_f64(MOST_BYTES)));
        bail!("--dataset: {place}: has {has}, the limit is {most}; give the number of its records instead");
    }
    let bytes = read_within(shell, path, MOST_BYTES, |_| Ok(())).context("--dataset")?;
    read_records(&place, &bytes).context("--dataset")
}
