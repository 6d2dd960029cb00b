//! A table that is sorted by its column heads and has a search field; a long table renders only the visible rows.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::later::use_turn;
use super::on;
use super::screen_texts::{ScreenText, use_screen_text};
use crate::platform::page::value_of;
use ns_base::convert::usize_to_f64;
use ns_page::Shared;
use ns_page::table_head::{TableHead, count_text};
use ns_view::column_look::ColumnLook;
use ns_view::palette::fill_var;
use ns_view::table::{Cell, Column, ColumnKind, Sort, Table, visible_range};

/// Tables up to this number of rows render all of them.
const MOST_ROWS: usize = 200;
/// Longer tables scroll in their own frame, so that the user can reach the page below them.
const MOST_UNFRAMED: usize = 25;
/// Up to this many rows, a table has neither a count nor a button that saves it.
pub const FEW_ROWS: usize = 3;
/// Up to this many rows, a table has no search: they are in sight together.
const MOST_UNSEARCHED: usize = 12;
/// Behind the stored example of a page, these come with the head of the table, and the others in a task of their own.
const EARLY_ROWS: usize = 8;
const ROW_PX: f64 = 30.0;
const HEIGHT_PX: f64 = 540.0;

/// A column with a link for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowAction {
    /// Text in the head.
    pub title: &'static str,
    /// Text in each row.
    pub label: &'static str,
    /// Address of each row, by its position in the table; `None` for a row without one.
    pub links: Rc<[Option<AttrValue>]>,
}

#[derive(Properties, PartialEq)]
pub struct DataTableProps {
    pub name: AttrValue,
    pub table: Shared<Table>,
    #[prop_or_default]
    pub sort: Option<Sort>,
    /// Receives a pressed head.
    pub on_sort: Callback<Sort>,
    #[prop_or_default]
    pub search: AttrValue,
    /// Receives the edited search; without this callback there is no search field.
    #[prop_or_default]
    pub on_search: Option<Callback<String>>,
    /// More about a row, shown when the pointer is over its first cell: `None` if the cell says all.
    #[prop_or_default]
    pub notes: Rc<[Option<AttrValue>]>,
    /// Colours of the rows, as indices into the palette; empty if they have none.
    #[prop_or_default]
    pub swatches: Rc<[u8]>,
    /// Rows that break a limit, by position in the table.
    #[prop_or_default]
    pub faint: Rc<[usize]>,
    /// A highlighted row, by position in the table.
    #[prop_or_default]
    pub marked: Option<usize>,
    /// A link at the end of each row.
    #[prop_or_default]
    pub row_action: Option<RowAction>,
    /// Whether values are shown unrounded, as another tool shows them.
    #[prop_or_default]
    pub exact: bool,
    /// Whether texts too long for two lines are cut, and shown whole when pointed at: names of templates can be longer than
    /// any sentence.
    #[prop_or_default]
    pub cuts_texts: bool,
    /// Receives the position of a chosen row in the table; without this callback rows cannot be chosen.
    #[prop_or_default]
    pub on_row: Option<Callback<usize>>,
}

#[component]
pub fn DataTable(props: &DataTableProps) -> Html {
    let scroll_top = use_state_eq(|| 0.0_f64);
    let order = use_memo((props.table.clone(), props.sort.clone(), props.search.clone()), |(table, sort, search)| {
        table.order(sort.as_ref(), search)
    });
    let looks = use_memo((props.table.clone(), props.exact), |(table, exact)| {
        if *exact { table.columns.iter().map(ColumnLook::exact).collect() } else { ColumnLook::of(table) }
    });
    use_screen_text(ScreenText::Table {
        name: props.name.clone(),
        table: props.table.clone(),
        order: order.clone(),
        looks: looks.clone(),
    });
    let is_long = order.len() > MOST_ROWS;
    let range = if is_long { visible_range(*scroll_top, HEIGHT_PX, ROW_PX, order.len(), 12) } else { 0..order.len() };
    let early = range.start..range.end.min(range.start + EARLY_ROWS);
    let drawn = if use_turn() { range.clone() } else { early };
    let onscroll = on(scroll_top.clone(), |scroll_top, event: web_sys::Event| {
        if let Some(element) = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok()) {
            scroll_top.set(libm::floor(f64::from(element.scroll_top()) / (4.0 * ROW_PX)) * 4.0 * ROW_PX);
        }
    });
    let columns = (props.table.columns.len() + usize::from(props.row_action.is_some())).to_string();
    let above = usize_to_f64(range.start) * ROW_PX;
    let below = usize_to_f64(order.len() - range.end) * ROW_PX;
    let spacer = |height: f64| {
        html! { <tr class="spacer" aria-hidden="true"><td colspan={columns.clone()} style={format!("height:{height}px")}></td></tr> }
    };
    html! {
        <div class="data-table">
            // A table of a few rows is read whole.
            if props.table.rows.len() > FEW_ROWS || !props.search.is_empty() {
                <div class="table-tools">
                    { search_field(props) }
                    <p class="count" role="status">{ count_text(order.len(), props.table.rows.len()) }</p>
                </div>
            }
            <div class={classes!("table-scroll", is_long.then_some("is-long"), (order.len() > MOST_UNFRAMED).then_some("is-framed"))} {onscroll} tabindex="0" role="region" aria-label={format!("{}, scrollable", props.name)}>
                <table aria-rowcount={is_long.then(|| order.len().to_string())}>
                    <caption>{ &props.name }</caption>
                    <thead><tr>{ for props.table.columns.iter().zip(&*looks).map(|(c, look)| head(c, look, props)) }
                        if let Some(action) = &props.row_action { <th scope="col">{ action.title }</th> }</tr></thead>
                    <tbody>
                        if above > 0.0 { { spacer(above) } }
                        { for order[drawn].iter().map(|&r| row(props, &looks, r)) }
                        if below > 0.0 { { spacer(below) } }
                        if order.is_empty() {
                            <tr><td class="empty" colspan={columns.clone()}>
                                { if props.search.is_empty() { "No rows.".to_owned() } else { format!("No row contains \u{201c}{}\u{201d}.", props.search) } }
                            </td></tr>
                        }
                    </tbody>
                </table>
            </div>
        </div>
    }
}

fn search_field(props: &DataTableProps) -> Html {
    // A search that is on stays, so that it can be ended.
    let is_wanted = props.table.rows.len() > MOST_UNSEARCHED || !props.search.is_empty();
    let Some(on_search) = props.on_search.as_ref().filter(|_| is_wanted) else { return Html::default() };
    let oninput = on_search.reform(|event: InputEvent| value_of(&event));
    html! {
        <label class="search">
            <span class="visually-hidden">{ format!("Search {}", props.name) }</span>
            <input type="search" placeholder="Search" value={props.search.clone()} {oninput} />
        </label>
    }
}

fn head(column: &Column, look: &ColumnLook, props: &DataTableProps) -> Html {
    let TableHead { order, mark, next } = TableHead::of(column, props.sort.as_ref());
    let onclick = props.on_sort.reform(move |_| next.clone());
    html! {
        <th scope="col" aria-sort={order} class={column.is_numeric().then_some("number")}>
            <button type="button" {onclick}>{ for breakable(&look.title) }<span class="sort-mark" aria-hidden="true">{ mark }</span></button>
        </th>
    }
}

/// A title that may begin another line after a slash.
fn breakable(title: &str) -> impl Iterator<Item = Html> {
    title.split_inclusive('/').map(|part| html! { <>{ part.to_owned() }<wbr /></> })
}

fn row(props: &DataTableProps, looks: &[ColumnLook], r: usize) -> Html {
    let cells = props.table.rows[r].iter().zip(props.table.columns.iter().zip(looks)).enumerate();
    let note = props.notes.get(r).cloned().flatten();
    html! {
        <tr key={r} class={classes!((props.marked == Some(r)).then_some("is-best"), props.faint.contains(&r).then_some("is-faint"))}>
            { for cells.map(|(i, (cell, (column, look)))| if i == 0 { first_cell(props, r, cell, (column, look), note.clone()) } else { value_cell(cell, column, look, props.cuts_texts) }) }
            if let Some(action) = &props.row_action { { action_cell(action, r) } }
        </tr>
    }
}

fn first_cell(
    props: &DataTableProps,
    r: usize,
    cell: &Cell,
    (column, look): (&Column, &ColumnLook),
    note: Option<AttrValue>,
) -> Html {
    let text = look.text(cell);
    let full = look.exact_text(cell).unwrap_or_else(|| text.clone());
    let swatch = props.swatches.get(r).map(|fill| {
        html! { <span class="swatch" aria-hidden="true" style={format!("background:{}", fill_var(*fill))}></span> }
    });
    let content = match &props.on_row {
        Some(on_row) => {
            let onclick = on_row.reform(move |_| r);
            html! { <button type="button" class="link" {onclick} title={full}>{ text }</button> }
        }
        None => html! { <span class="name" title={full}>{ text }</span> },
    };
    html! {
        <th scope="row" class={classes!(column.is_numeric().then_some("number"), (!props.swatches.is_empty()).then_some("has-swatch"))}>
            { swatch.unwrap_or_default() }{ content }
            if let Some(note) = note {
                <details class="members"><summary aria-label="Fused members">{ "?" }</summary><p>{ note }</p></details>
            }
        </th>
    }
}

fn action_cell(action: &RowAction, r: usize) -> Html {
    let link = action.links.get(r).cloned().flatten();
    html! { <td>{ for link.map(|href| html! { <a class="row-link" {href}>{ action.label }</a> }) }</td> }
}

fn value_cell(cell: &Cell, column: &Column, look: &ColumnLook, is_cut: bool) -> Html {
    let text = look.text(cell);
    let exact = look.exact_text(cell);
    if column.kind == ColumnKind::Percent {
        let share = cell.number().unwrap_or_default().clamp(0.0, 100.0);
        return html! {
            <td class="number percent" data-value={cell.raw()} title={exact}>
                <span>{ text }</span>
                <span class="bar" aria-hidden="true"><span style={format!("width:{share:.2}%")}></span></span>
            </td>
        };
    }
    // A sentence needs room to be read, where numbers would leave it a few characters.
    let is_sentence = !column.is_numeric() && text.len() > 48;
    if is_sentence && is_cut {
        let full = exact.unwrap_or_else(|| text.clone());
        return html! { <td class="is-name" data-value={cell.raw()}><span class="name" title={full}>{ text }</span></td> };
    }
    // A long table cuts its texts.
    let title = exact.or_else(|| (is_cut && !column.is_numeric()).then(|| text.clone()));
    html! { <td class={classes!(column.is_numeric().then_some("number"), is_sentence.then_some("is-sentence"))} {title} data-value={cell.raw()}>{ text }</td> }
}
