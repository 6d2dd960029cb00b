//! A table with heads that sort, and with its exact values in `data-value`.

use crate::column_look::ColumnLook;
use crate::svg::escape;
use crate::table::Table;

/// Writes a table.
pub(super) fn table(out: &mut String, title: &str, table: &Table) {
    let looks = ColumnLook::of(table);
    let name = escape(title);
    out.push_str(&format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\n<table>\n<caption>{name}</caption>\n<thead><tr>"
    ));
    for (column, look) in table.columns.iter().zip(&looks) {
        let class = if column.is_numeric() { "number" } else { "text" };
        let (id, head) = (escape(&column.id), escape(&look.title));
        out.push_str(&format!(
            "<th scope=\"col\" class=\"{class}\" data-id=\"{id}\"><button type=\"button\">{head}</button></th>"
        ));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for ((cell, look), column) in row.iter().zip(&looks).zip(&table.columns) {
            let class = if column.is_numeric() { " class=\"number\"" } else { "" };
            let exact = look.exact_text(cell).map(|text| format!(" title=\"{}\"", escape(&text))).unwrap_or_default();
            let (raw, text) = (escape(&cell.raw()), escape(&look.text(cell)));
            out.push_str(&format!("<td{class}{exact} data-value=\"{raw}\">{text}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column, ColumnKind};

    #[test]
    fn cells_have_exact_values_beside_readable_ones() {
        let columns =
            vec![Column::new("name", "Name", ColumnKind::Text), Column::new("rate", "Rate", ColumnKind::Number)];
        let rows = vec![vec![Cell::Text("a<b".into()), Cell::Number(28_864.712)], vec![Cell::Missing, Cell::Missing]];
        let mut out = String::new();
        table(&mut out, "Rates", &Table { columns, rows });
        assert!(out.contains("data-value=\"a&lt;b\">a&lt;b</td>"), "{out}");
        assert!(out.contains("data-value=\"28864.712\">28,900</td>"), "{out}");
        assert!(out.contains("data-value=\"N/A\">\u{2013}</td>"), "{out}");
    }
}
