//! The list of tables and documents on the screen, which can be copied as text: each registers while it is shown.

use ns_base::units::format_plural;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use yew::prelude::*;

use ns_page::Shared;
use ns_view::column_look::ColumnLook;
use ns_view::document::Document;
use ns_view::markdown;
use ns_view::table::Table;

/// Something that is on the screen.
#[derive(Clone, PartialEq)]
pub enum ScreenText {
    /// A table: its shown rows, in their order.
    Table {
        name: AttrValue,
        /// All of its rows.
        table: Shared<Table>,
        /// Positions of the shown rows.
        order: Rc<Vec<usize>>,
        looks: Rc<Vec<ColumnLook>>,
    },
    Document(Shared<Document>),
}

impl ScreenText {
    /// Its name for the user.
    pub fn name(&self) -> String {
        match self {
            Self::Table { name, order, .. } => {
                format!("{name}, {}", format_plural(order.len(), "row"))
            }
            Self::Document(document) => format!("All of \u{201c}{}\u{201d}", document.title),
        }
    }

    /// Its content as Markdown.
    pub fn markdown(&self) -> String {
        match self {
            Self::Table { table, order, looks, .. } => markdown::table(table, order, looks),
            Self::Document(document) => markdown::document(document),
        }
    }

    /// The command in it that gives the same result.
    pub fn command(&self) -> Option<String> {
        match self {
            Self::Table { .. } => None,
            Self::Document(document) => document.command().map(str::to_owned),
        }
    }
}

thread_local! {
    static TEXTS: RefCell<Vec<(u32, ScreenText)>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Everything that is on the screen, in the order in which it came there.
pub fn screen_texts() -> Vec<ScreenText> {
    TEXTS.with_borrow(|texts| texts.iter().map(|(_, text)| text.clone()).collect())
}

/// Registers something for as long as it is on the screen. A text that changes keeps its place in the list.
#[hook]
pub fn use_screen_text(text: ScreenText) {
    let id = *use_memo((), |()| NEXT.replace(NEXT.get().wrapping_add(1)));
    use_effect_with(text, move |text| {
        TEXTS.with_borrow_mut(|texts| match texts.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => texts[at].1 = text.clone(),
            Err(at) => texts.insert(at, (id, text.clone())),
        });
    });
    use_effect_with((), move |()| move || TEXTS.with_borrow_mut(|texts| texts.retain(|(known, _)| *known != id)));
}
