//! A table of numbers, a line for each record, with a heading or without.

use super::records::Records;
use ns_base::{Refusal, refuse};

pub(super) fn read(file: &str, text: &str) -> Result<Records, Refusal> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut records = Records::default();
    let mut columns = 0;
    for (i, line) in reader.records().enumerate() {
        let line = match line {
            Ok(line) => line,
            Err(e) => {
                records.diagnostics.add("bad_row", None, || format!("{e}; it is left out"));
                continue;
            }
        };
        let at = line.position().map_or(i as u64 + 1, csv::Position::line);
        // The first line is the heading if none of its cells is a number.
        if i == 0 && line.iter().all(|cell| cell.parse::<f64>().is_err()) {
            records.columns = line.iter().map(str::to_owned).collect();
            columns = line.len();
            continue;
        }
        if columns == 0 {
            columns = line.len();
        }
        match numbers(&line, columns) {
            Ok(numbers) => {
                records.values.extend(numbers);
                records.count += 1;
            }
            Err(problem) => {
                records.diagnostics.add("bad_row", None, || format!("line {at}: {problem}; it is left out"))
            }
        }
    }
    records.dims = vec![columns as u64];
    if records.count == 0 {
        let problem =
            records.diagnostics.items().first().map_or_else(|| "it has only a heading".to_owned(), ToString::to_string);
        return Err(refuse!("{file}: no line is a record: {problem}"));
    }
    Ok(records)
}

fn numbers(line: &csv::StringRecord, columns: usize) -> Result<Vec<f64>, Refusal> {
    if line.len() != columns {
        return Err(refuse!("it has {} values, the first has {columns}", line.len()));
    }
    let number = |(i, cell): (usize, &str)| {
        let number = cell.parse::<f64>().ok().filter(|n| n.is_finite());
        number.ok_or_else(|| refuse!("value {} is '{cell}', not a number", i + 1))
    };
    line.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_a_heading_or_none() {
        let read = |text| read("t.csv", text).unwrap();
        let with = read("a, b\n1, 2\n3, 4.5\n");
        assert_eq!((with.count, with.columns.len(), with.values), (2, 2, vec![1.0, 2.0, 3.0, 4.5]));
        let without = read("# made by numpy\n1,2\n3,4\n");
        assert_eq!((without.count, without.dims, without.columns.len()), (2, vec![2], 0));
    }

    #[test]
    fn wrong_lines_are_left_out_and_listed() {
        let records = read("t.csv", "a,b\n1,2\nx,4\n5\n6,NaN\n7,8\n").unwrap();
        assert_eq!((records.count, records.diagnostics.count("bad_row")), (2, 3));
        let first = records.diagnostics.items()[0].to_string();
        assert!(first.contains("line 3: value 1 is 'x', not a number"), "{first}");
        let error = read("t.csv", "a,b\nx,y\n").unwrap_err().to_string();
        assert!(error.contains("t.csv: no line is a record") && error.contains("'x'"), "{error}");
        assert!(read("t.csv", "a,b\n").unwrap_err().to_string().contains("only a heading"));
    }
}
