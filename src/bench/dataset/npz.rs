//! The records of an archive of arrays as `numpy.savez` writes it.

use ns_base::{Refusal, refuse};
use ns_container::zip::Archive;

use super::npy;
use super::records::Records;

/// Most bytes of one array.
const MOST_BYTES: u64 = 1 << 30;

/// The name of a file and of the array in it that is meant: `mnist.npz:x_test`.
pub fn split_array(file: &str) -> (&str, Option<&str>) {
    match file.rfind(".npz:") {
        Some(at) => (&file[..at + ".npz".len()], file.get(at + ".npz:".len()..)),
        None => (file, None),
    }
}

/// The array with a name; without one, the only array, or an array of inputs with the array of its targets, which becomes the last column.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Records, Refusal> {
    let (path, wanted) = split_array(file);
    let source = bytes.to_vec();
    let archive = Archive::open(&source).map_err(|e| e.within(|what| format!("{path}: {what}")))?;
    let name_of = |name: &str| name.strip_suffix(".npy").map(str::to_owned);
    let names: Vec<String> = archive.entries.iter().filter_map(|entry| name_of(&entry.name)).collect();
    let load = |name: &str| -> Result<Records, Refusal> {
        let entry = archive.entries.iter().find(|entry| name_of(&entry.name).as_deref() == Some(name));
        let entry =
            entry.ok_or_else(|| refuse!("{path}: there is no array '{name}'; the arrays are {}", names.join(", ")))?;
        let content = archive.content(entry, MOST_BYTES).map_err(|e| e.within(|what| format!("{path}: {what}")))?;
        npy::read(&format!("{path}:{name}"), &content)
    };
    match (wanted, names.as_slice()) {
        (Some(name), _) => load(name),
        (None, []) => Err(refuse!("{path}: the archive holds no arrays; save them with numpy.savez")),
        (None, [only]) => load(only),
        (None, [a, b]) => {
            let (first, second) = (load(a)?, load(b)?);
            with_targets(&first, &second, b)
                .or_else(|| with_targets(&second, &first, a))
                .ok_or_else(|| several(path, &names))
        }
        (None, _) => Err(several(path, &names)),
    }
}

fn several(path: &str, names: &[String]) -> Refusal {
    let first = names.first().map_or("", String::as_str);
    refuse!("{path}: it holds the arrays {}; name one of them, as in {path}:{first}", names.join(", "))
}

/// Inputs with one target for each record, as a table whose last column is the target.
fn with_targets(inputs: &Records, targets: &Records, name: &str) -> Option<Records> {
    if targets.elements() != 1 || inputs.elements() == 1 || targets.count != inputs.count {
        return None;
    }
    let columns = inputs.elements();
    let mut table = Records {
        count: inputs.count,
        dims: vec![columns + 1],
        columns: (0..columns).map(|i| format!("x{i}")).chain([name.to_owned()]).collect(),
        values: Vec::with_capacity(inputs.values.len() + targets.values.len()),
        ..inputs.clone()
    };
    table.values.clear();
    for (record, target) in inputs.iter().zip(&targets.values) {
        table.values.extend(record.iter().chain([target]));
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::super::read_records;
    use ns_container::zip::write;

    fn array(shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [ns_container::npy::MAGIC, &[1, 0], &length, header.as_bytes(), values].concat()
    }

    fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
        write(&arrays.iter().map(|(name, bytes)| (format!("{name}.npy"), bytes.clone())).collect::<Vec<_>>())
    }

    #[test]
    fn one_array_is_taken_and_several_are_named() {
        let x = array("(2, 2)", &[1, 2, 3, 4]);
        let one = read_records("a.npz", &archive(&[("x", x.clone())])).unwrap();
        assert_eq!((one.count, one.dims), (2, vec![2]));
        let four = archive(&[("x_test", x.clone()), ("x_train", x.clone()), ("y", array("(2,)", &[7, 9]))]);
        let said = read_records("m.npz", &four).unwrap_err().to_string();
        assert_eq!(said, "m.npz: it holds the arrays x_test, x_train, y; name one of them, as in m.npz:x_test");
        assert_eq!(read_records("m.npz:y", &four).unwrap().values, [7.0, 9.0]);
        let said = read_records("m.npz:z", &four).unwrap_err().to_string();
        assert_eq!(said, "m.npz: there is no array 'z'; the arrays are x_test, x_train, y");
    }

    #[test]
    fn targets_are_the_last_column() {
        let pair = archive(&[("y", array("(2,)", &[7, 9])), ("x", array("(2, 1, 2)", &[1, 2, 3, 4]))]);
        let table = read_records("a.npz", &pair).unwrap();
        assert_eq!((table.dims.clone(), table.values.clone()), (vec![3], vec![1.0, 2.0, 7.0, 3.0, 4.0, 9.0]));
        assert_eq!(table.with_targets("a.npz", Some("y")).unwrap().1, [7.0, 9.0]);
    }
}
