//! A table that keeps its own order and search, and can be taken away as CSV: for tables that no link remembers.

use std::rc::Rc;

use yew::prelude::*;

use super::DataTable;
use crate::base::units::format_count;
use crate::view::table::{Sort, Table};
use crate::web::context::Shared;
use crate::web::platform::download;

/// Properties of [`LocalTable`].
#[derive(Properties, PartialEq)]
pub struct LocalTableProps {
    /// Its name.
    pub name: AttrValue,
    /// Its content.
    pub table: Shared<Table>,
    /// Name of the file it is saved as, without its end.
    pub file: AttrValue,
    /// Whether it has a search field.
    #[prop_or(true)]
    pub searchable: bool,
    /// Number of rows there are in all and what saves them, where the table holds only some.
    #[prop_or_default]
    pub save_all: Option<(u64, Callback<()>)>,
    /// How it is sorted at first.
    #[prop_or_default]
    pub sort: Option<Sort>,
    /// A row was chosen, by position in the table.
    #[prop_or_default]
    pub on_row: Option<Callback<usize>>,
    /// Whether texts too long for two lines are cut.
    #[prop_or_default]
    pub cuts_texts: bool,
    /// More about rows.
    #[prop_or_default]
    pub notes: Rc<[Option<AttrValue>]>,
}

/// The table.
#[component]
pub fn LocalTable(props: &LocalTableProps) -> Html {
    let sort = use_state_eq(|| props.sort.clone());
    let search = use_state_eq(String::new);
    let on_sort = {
        let sort = sort.clone();
        Callback::from(move |next: Sort| sort.set(Some(next)))
    };
    let on_search = {
        let search = search.clone();
        props.searchable.then(|| Callback::from(move |text: String| search.set(text)))
    };
    let save = {
        let (table, file) = (props.table.clone(), props.file.clone());
        let all = props.save_all.as_ref().map(|(_, save)| save.clone());
        Callback::from(move |_: MouseEvent| match &all {
            Some(save) => save.emit(()),
            // A browser that refuses a download says so itself.
            None => drop(download::save(&format!("{file}.csv"), "text/csv", table.to_csv().as_bytes())),
        })
    };
    let all = props.save_all.as_ref().map(|(total, _)| format!(", all {} rows", format_count(*total)));
    let all = all.unwrap_or_default();
    html! {
        <div class="local-table">
            <DataTable
                name={props.name.clone()} table={props.table.clone()} sort={(*sort).clone()} {on_sort}
                search={(*search).clone()} {on_search} on_row={props.on_row.clone()} notes={props.notes.clone()}
                cuts_texts={props.cuts_texts}
            />
            <button type="button" onclick={save} aria-label={format!("Download {} as CSV{all}", props.name)}>{ format!("CSV{all}") }</button>
        </div>
    }
}
