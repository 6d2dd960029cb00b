//! Two kept things against each other.

use super::{ItemKind, ShelfItem};
use crate::session::share::{Address, CompareLink, Page, PageLink as _, ProfileLink, Tool};

impl ShelfItem {
    /// The view that it opens with; `None` for what is no profile.
    fn profile(&self) -> Option<ProfileLink> {
        if !matches!(self.kind, ItemKind::Profile | ItemKind::Run) {
            return None;
        }
        let mut address = Address::read(&self.link);
        (address.page() == Page::Profile).then(|| address.profile())
    }

    /// It as the base of a comparison; `None` for what is no profile.
    #[must_use]
    pub fn as_base(&self) -> Option<CompareLink> {
        let link = self.profile()?;
        Some(match self.kind {
            ItemKind::Run => CompareLink { base_run: Some(link.spec), ..CompareLink::default() },
            _ => CompareLink { base: Some(self.file.clone()), ..CompareLink::default() },
        })
    }
}

/// The address that compares a kept profile with another one, which is the base. `None` where either is no profile.
#[must_use]
pub fn comparison_of(shown: &ShelfItem, base: &ShelfItem) -> Option<String> {
    let link = shown.profile()?;
    Some(ProfileLink { tool: Tool::Compare, compare: base.as_base()?, ..link }.hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_files_are_compared_and_results_are_not() {
        let run = |model: &str| {
            ShelfItem::of_link(ItemKind::Run, model, &format!("#/profile?v=1&model={model}&tool=overview"), 1)
        };
        let file = ShelfItem::of_file(ItemKind::Profile, "a b.json", "#/profile?v=1&file=a%20b.json", 5, 1);
        let read = |hash: String| Address::read(&hash).profile();
        let link = read(comparison_of(&run("nn"), &run("mlp")).unwrap());
        assert_eq!((link.tool, link.spec.model.as_str()), (Tool::Compare, "nn"));
        assert_eq!(link.compare.base_run.unwrap().model, "mlp");
        let link = read(comparison_of(&run("nn"), &file).unwrap());
        assert_eq!((link.file, link.compare.base.as_deref()), (None, Some("a b.json")));
        let link = read(comparison_of(&file, &run("nn")).unwrap());
        assert_eq!((link.file.as_deref(), link.compare.base), (Some("a b.json"), None));
        let results = ShelfItem::of_link(ItemKind::Benchmark, "nn", "#/benchmark?v=1&model=nn", 1);
        assert_eq!(comparison_of(&results, &run("nn")), None);
        assert_eq!(comparison_of(&run("nn"), &results), None);
    }
}
