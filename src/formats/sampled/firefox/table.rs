//! Tables in both forms: `{"schema": {"a": 0}, "data": [[..]]}` and `{"length": n, "a": [..]}`.

use crate::json::{Items, Value};

/// Calls `each` with every row: its number and the values of some columns. A value that is null or missing is `None`.
pub(super) fn rows<'a, const N: usize>(
    table: Option<Value<'a>>,
    columns: [&str; N],
    mut each: impl FnMut(usize, [Option<Value<'a>>; N]),
) {
    let Some(table) = table else { return };
    let [schema, data, length] = table.fields(["schema", "data", "length"]);
    if let (Some(schema), Some(data)) = (schema.filter(|s| s.is_object()), data) {
        let places = schema.fields(columns).map(|v| v.and_then(Value::index));
        for (number, row) in data.items().enumerate() {
            let mut found = [None; N];
            for (i, value) in row.items().enumerate() {
                if let Some(column) = places.iter().position(|&p| p == Some(i)) {
                    found[column] = present(value);
                }
            }
            each(number, found);
        }
        return;
    }
    let mut lists: [Option<Items<'a>>; N] = table.fields(columns).map(|list| list.map(Value::items));
    let length = length.and_then(Value::index).unwrap_or(usize::MAX);
    for number in 0..length {
        let mut ended = true;
        let found = lists.each_mut().map(|list| {
            let value = list.as_mut().and_then(Iterator::next);
            ended &= value.is_none();
            value.and_then(present)
        });
        if ended {
            break;
        }
        each(number, found);
    }
}

fn present(value: Value<'_>) -> Option<Value<'_>> {
    (!value.is_null()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Doc;

    #[test]
    fn both_forms_give_the_same_rows() {
        for text in [
            r#"{"schema":{"b":1,"a":0},"data":[[1,2],[3],[null,4]]}"#,
            r#"{"length":3,"a":[1,3,null],"b":[2,null,4],"c":[9,9,9]}"#,
        ] {
            let (doc, mut found) = (Doc::new(text.as_bytes()), Vec::new());
            rows(Some(doc.root()), ["a", "b"], |i, row| found.push((i, row.map(|v| v.and_then(Value::i64)))));
            assert_eq!(found, [(0, [Some(1), Some(2)]), (1, [Some(3), None]), (2, [None, Some(4)])], "{text}");
        }
    }
}
