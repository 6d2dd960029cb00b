//! Comparison of two kept items.

use super::{ItemKind, ShelfItem};
use crate::share::{Address, CompareLink, ExperimentLink, Page, PageLink as _, ProfileLink, Tool};

impl ShelfItem {
    /// The view that an item opens with; `None` if the item is not a profile.
    fn profile(&self) -> Option<ProfileLink> {
        if !matches!(self.kind, ItemKind::Profile | ItemKind::Run) {
            return None;
        }
        let mut address = Address::read(&self.link);
        (address.page() == Page::Profile).then(|| address.profile())
    }

    /// The item as the base of a comparison; `None` if it is not a profile.
    pub fn as_base(&self) -> Option<CompareLink> {
        let link = self.profile()?;
        Some(match self.kind {
            ItemKind::Run => CompareLink { base_run: Some(link.spec), ..CompareLink::default() },
            _ => CompareLink { base: Some(self.file.clone()), ..CompareLink::default() },
        })
    }

    /// The file name under which kept benchmark results are opened as reports: `nn on trn1.2xlarge [0123456789abcdef].json`. `None`
    /// for any other item.
    pub fn results_file(&self) -> Option<String> {
        // The sign separates the names of files in a link.
        let name = self.name.replace('|', " ");
        (self.kind == ItemKind::Benchmark).then(|| format!("{name} [{}].json", self.id()))
    }

    /// Whether this name belongs to the item, even if it was renamed.
    pub fn is_results(&self, file: &str) -> bool {
        self.kind == ItemKind::Benchmark && results_id(file) == Some(self.id().as_str())
    }
}

/// The kept results that a name of a reports file refers to; `None` for a real file.
pub fn results_id(file: &str) -> Option<&str> {
    let id = file.strip_suffix("].json")?.rsplit_once(" [")?.1;
    (id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())).then_some(id)
}

/// The address that compares a kept item with another one, the base: two profiles, or two results of benchmarks. `None` if
/// they cannot be compared.
pub fn comparison_of(item: &ShelfItem, base: &ShelfItem) -> Option<String> {
    if let (Some(item), Some(base)) = (item.results_file(), base.results_file()) {
        return Some(ExperimentLink { files: vec![base, item], ..ExperimentLink::default() }.hash());
    }
    let link = item.profile()?;
    Some(ProfileLink { tool: Tool::Compare, compare: base.as_base()?, ..link }.hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_compared_as_files_of_reports() {
        let results = |name: &str, link: &str| ShelfItem::of_link(ItemKind::Benchmark, name, link, 1);
        let before = results("nn | on trn1", "#/benchmark?v=1&model=nn");
        let after = results("nn on inf2", "#/benchmark?v=1&model=nn&instance=inf2.xlarge");
        let link = comparison_of(&after, &before).unwrap();
        let mut address = Address::read(&link);
        assert_eq!(address.page(), Page::Experiments);
        let files = address.experiments().files;
        assert_eq!(files.len(), 2);
        assert!(before.is_results(&files[0]) && after.is_results(&files[1]), "{files:?}");
        let renamed = ShelfItem { name: "mine".into(), ..before.clone() };
        assert!(renamed.is_results(&files[0]) && !after.is_results(&files[0]));
        for file in ["a.json", "a [1].json", "a [0123456789abcdex].json", "[0123456789abcdef].json"] {
            assert_eq!(results_id(file), None, "{file}");
        }
    }

    #[test]
    fn runs_and_files_are_compared_and_results_are_not_compared_with_them() {
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
