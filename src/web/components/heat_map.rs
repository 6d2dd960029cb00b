//! A grid of values, each cell shaded and with its value written in it: a table, so that screen readers read it as one.

use yew::prelude::*;

use ns_view::plot::{HeatCell, HeatMap};

/// `targets`: what each cell opens, row by row; a cell without a text opens nothing.
pub fn heat_map_chart(
    title: &AttrValue,
    plot: &HeatMap,
    targets: &[Vec<String>],
    on_open: Option<&Callback<String>>,
) -> Html {
    let opener = |row: usize, column: usize| {
        let target = targets.get(row)?.get(column).filter(|target| !target.is_empty())?.clone();
        let open = on_open.cloned()?;
        Some(Callback::from(move |_: MouseEvent| open.emit(target.clone())))
    };
    let opens = on_open.is_some() && !targets.is_empty();
    let cell = |row: usize, column: usize, cell: &Option<HeatCell>| {
        let Some(cell) = cell else { return html! { <td class="missing">{ "-" }</td> } };
        let (style, text) =
            (format!("--share:{:.1}%", cell.share * 100.0), format!("{} {}", cell.text, plot.value_title));
        match opener(row, column) {
            Some(onclick) => {
                html! { <td {style} title={text}><button type="button" class="link" {onclick}>{ &cell.text }</button></td> }
            }
            None => html! { <td class={opens.then_some("missing")} {style} title={text}>{ &cell.text }</td> },
        }
    };
    html! {
        <figure class="heat-map">
            <figcaption>{ title }<span class="sub">{ &plot.value_title }</span></figcaption>
            <div class="scroll" tabindex="0" role="region" aria-label={title.clone()}>
                <table>
                    <thead><tr>
                        <th scope="col">{ format!("{} \\ {}", plot.y_title, plot.x_title) }</th>
                        { for plot.columns.iter().map(|c| html! { <th scope="col">{ c }</th> }) }
                    </tr></thead>
                    <tbody>{ for plot.rows.iter().enumerate().map(|(r, row)| html! {
                        <tr><th scope="row">{ &row.name }</th>{ for row.cells.iter().enumerate().map(|(c, value)| cell(r, c, value)) }</tr>
                    }) }</tbody>
                </table>
            </div>
        </figure>
    }
}
