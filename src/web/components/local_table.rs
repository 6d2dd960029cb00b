//! A table that keeps its own order and search, because no link holds them, and can be saved as CSV.

use std::rc::Rc;

use yew::prelude::*;

use super::{DataTable, FEW_ROWS, on};
use crate::platform::download;
use ns_base::units::format_count;
use ns_page::Shared;
use ns_view::table::{Sort, Table};

/// Order and search of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLook {
    pub sort: Option<Sort>,
    pub search: String,
}

#[derive(Clone, Properties, PartialEq)]
pub struct LocalTableProps {
    pub name: AttrValue,
    pub table: Shared<Table>,
    /// Name of the file it is saved as, without the extension.
    pub file: AttrValue,
    /// Whether it has a search field.
    #[prop_or(true)]
    pub searchable: bool,
    /// Whether it can be saved even if it has only a few rows.
    #[prop_or_default]
    pub keeps_csv: bool,
    /// Number of all rows and the callback that saves them, if the table holds only some.
    #[prop_or_default]
    pub save_all: Option<(u64, Callback<()>)>,
    /// Set if the owner keeps the sorting and the search: the searched text, and the callback for a change.
    #[prop_or_default]
    pub look: Option<(AttrValue, Callback<TableLook>)>,
    /// Its sort order: at first, or now if `look` is set.
    #[prop_or_default]
    pub sort: Option<Sort>,
    /// Receives the position of a chosen row in the table.
    #[prop_or_default]
    pub on_row: Option<Callback<usize>>,
    /// Whether texts too long for two lines are cut.
    #[prop_or_default]
    pub cuts_texts: bool,
    /// Colours of the rows.
    #[prop_or_default]
    pub swatches: Rc<[u8]>,
    /// Rows that break a limit, by position in the table.
    #[prop_or_default]
    pub faint: Rc<[usize]>,
    /// Additional text for each row, shown over its first cell.
    #[prop_or_default]
    pub notes: Rc<[Option<AttrValue>]>,
}

#[component]
pub fn LocalTable(props: &LocalTableProps) -> Html {
    let sort = use_state_eq(|| props.sort.clone());
    let search = use_state_eq(String::new);
    let now = match &props.look {
        Some((search, _)) => TableLook { sort: props.sort.clone(), search: search.to_string() },
        None => TableLook { sort: (*sort).clone(), search: (*search).clone() },
    };
    let change = match &props.look {
        Some((_, tell)) => tell.clone(),
        None => on((sort.setter(), search.setter()), |(sort, search), look: TableLook| {
            sort.set(look.sort);
            search.set(look.search);
        }),
    };
    let on_sort = on((now.clone(), change.clone()), |(now, change), next: Sort| {
        change.emit(TableLook { sort: Some(next), ..now.clone() })
    });
    let on_search = props
        .searchable
        .then(|| on(now.clone(), move |now, search: String| change.emit(TableLook { search, ..now.clone() })));
    let save = on(props.clone(), |props, _: MouseEvent| match &props.save_all {
        Some((_, save)) => save.emit(()),
        // A browser that refuses a download says so itself.
        None => drop(download::save(&format!("{}.csv", props.file), "text/csv", props.table.to_csv().as_bytes())),
    });
    let all = props.save_all.as_ref().map(|(total, _)| format!(", all {} rows", format_count(*total)));
    let all = all.unwrap_or_default();
    html! {
        <div class="local-table">
            <DataTable
                name={props.name.clone()} table={props.table.clone()} sort={now.sort} {on_sort}
                search={now.search} {on_search} on_row={props.on_row.clone()} notes={props.notes.clone()}
                cuts_texts={props.cuts_texts} faint={props.faint.clone()} swatches={props.swatches.clone()}
            />
            if props.keeps_csv || props.table.rows.len() > FEW_ROWS {
                <button type="button" onclick={save} aria-label={format!("Download {} as CSV{all}", props.name)}>{ format!("CSV{all}") }</button>
            }
        </div>
    }
}
