//! A table whose rows lead to their slices on the timeline.

use yew::prelude::*;

use crate::session::Listed;
use crate::web::components::LocalTable;
use crate::web::context::Shared;
use crate::web::state::profile::{ProfileAction, ProfileState};

/// Properties of [`ListedTable`].
#[derive(Properties, PartialEq)]
pub struct ListedTableProps {
    /// Its name.
    pub name: AttrValue,
    /// Name of the file it is saved as.
    pub file: AttrValue,
    /// The answer.
    pub listed: Shared<Listed>,
    /// The state of the page.
    pub state: UseReducerHandle<ProfileState>,
}

/// Notes and the table.
#[component]
pub fn ListedTable(props: &ListedTableProps) -> Html {
    let table = use_memo(props.listed.clone(), |listed| Shared::new(listed.table.clone()));
    let on_row = {
        let (listed, state) = (props.listed.clone(), props.state.clone());
        Callback::from(move |row: usize| {
            if let Some(Some(link)) = listed.slices.get(row) {
                state.dispatch(ProfileAction::Jump(link.clone()));
            }
        })
    };
    html! {
        <>
            { for props.listed.notes.iter().map(|note| html! { <p class="note" role="status">{ note }</p> }) }
            <LocalTable name={props.name.clone()} file={props.file.clone()} cuts_texts={true} table={(*table).clone()} {on_row} />
        </>
    }
}
