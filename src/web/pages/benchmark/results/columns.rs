//! Choosing the columns of the table.

use std::rc::Rc;

use yew::prelude::*;

use crate::components::{Fold, on};
use crate::platform::storage;
use ns_session::results::{DEFAULT_COLUMNS, column_title, offered_columns};

const SETTING: &str = "neuronscope.columns";

#[derive(Clone, Properties, PartialEq)]
pub struct ColumnChooserProps {
    /// Keys of the columns shown, in their order.
    pub columns: Rc<[&'static str]>,
    /// Receives the newly chosen columns.
    pub on_choose: Callback<Rc<[&'static str]>>,
}

/// A box for every key of a report.
#[component]
pub fn ColumnChooser(props: &ColumnChooserProps) -> Html {
    use_effect_with((), {
        let on_choose = props.on_choose.clone();
        // A link may have chosen already.
        let is_chosen = *props.columns != DEFAULT_COLUMNS;
        move |()| {
            if let Some(columns) = remembered().filter(|_| !is_chosen) {
                on_choose.emit(columns);
            }
        }
    });
    let summary = format!("Columns ({} of {})", props.columns.len(), offered_columns().len());
    let draw = on(props.clone(), |props, ()| boxes(props));
    html! { <Fold class="chooser" {summary} {draw} /> }
}

fn boxes(props: &ColumnChooserProps) -> Html {
    let choose = {
        let on_choose = props.on_choose.clone();
        move |columns: Rc<[&'static str]>| {
            storage::write(SETTING, &columns.join(","));
            on_choose.emit(columns);
        }
    };
    let all = on(choose.clone(), |choose, _: MouseEvent| choose(offered_columns().into_iter().collect()));
    let usual = on(choose.clone(), |choose, _: MouseEvent| choose(Rc::from(DEFAULT_COLUMNS)));
    let toggle = |key: &'static str| {
        on((props.columns.clone(), choose.clone()), move |(columns, choose), _: Event| {
            let is_kept = |k: &&'static str| (*k == key) != columns.iter().any(|s| s == k);
            choose(offered_columns().into_iter().filter(is_kept).collect());
        })
    };
    let boxes = offered_columns().into_iter().map(|key| {
        let is_shown = props.columns.contains(&key);
        // The last one stays: a table without columns is of no use.
        let is_last = is_shown && props.columns.len() == 1;
        html! {
            <label class="check"><input type="checkbox" checked={is_shown} disabled={is_last} onchange={toggle(key)} />
                <span title={key}>{ column_title(key) }</span></label>
        }
    });
    html! {
        <>
            <div class="buttons"><button type="button" onclick={all}>{ "All columns" }</button><button type="button" onclick={usual}>{ "Usual columns" }</button></div>
            <fieldset class="checks"><legend class="visually-hidden">{ "Columns" }</legend>{ for boxes }</fieldset>
        </>
    }
}

/// The columns of the last visit, as far as reports still have them.
fn remembered() -> Option<Rc<[&'static str]>> {
    let kept = storage::read(SETTING)?;
    let columns: Rc<[&'static str]> =
        offered_columns().into_iter().filter(|key| kept.split(',').any(|k| k == *key)).collect();
    (!columns.is_empty()).then_some(columns)
}
