//! Kept model files: the link that opens one, and the lookup by a model's text.

use super::{ItemKind, ShelfItem};
use crate::share::{Address, PageLink as _};
use crate::{InspectField, InspectSpec};
use ns_device::{ModelFileRef, ModelFileSettings};

/// The digest of a model file's content; `None` for a model of the zoo, and for a text with a file name only.
fn content(model: &str) -> Option<String> {
    ModelFileRef::of(model)?.digest
}

/// The address that shows a model file, whatever its settings; `None` for a model of the zoo.
pub fn model_link(model: &str) -> Option<String> {
    let file = ModelFileRef::of(model).filter(|file| file.digest.is_some())?;
    let file = ModelFileRef { settings: ModelFileSettings::default(), ..file }.to_string();
    Some(InspectSpec::default().with(InspectField::Model, &file).hash())
}

/// The kept file with the content that a model's text names, whatever the file's name.
pub fn model_file<'a>(items: &'a [ShelfItem], model: &str) -> Option<&'a ShelfItem> {
    let wanted = content(model)?;
    let is_it = |item: &&ShelfItem| {
        let mut address = Address::read(&item.link);
        content(address.inspect().get(InspectField::Model)).as_ref() == Some(&wanted)
    };
    items.iter().filter(|item| item.kind == ItemKind::Model && item.is_whole).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf_item(model: &str) -> ShelfItem {
        let item = ShelfItem::of_file(ItemKind::Model, "a.onnx", &model_link(model).unwrap(), 5, 1);
        ShelfItem { is_whole: true, ..item }
    }

    #[test]
    fn a_model_is_found_by_its_content_under_any_name_and_with_any_settings() {
        let items = [shelf_item("file:a.onnx@aaaaaaaa:seq=128"), shelf_item("file:a.onnx@bbbbbbbb")];
        let found = |model: &str| model_file(&items, model).map(|item| item.link.clone());
        assert_eq!(found("file:a.onnx@bbbbbbbb"), Some(items[1].link.clone()));
        assert_eq!(found("file:other name.onnx@aaaaaaaa:batch=8,seq=64"), Some(items[0].link.clone()));
        for model in ["file:a.onnx@cccccccc", "file:a.onnx", "nn", ""] {
            assert_eq!(found(model), None, "{model}");
        }
        let half = [ShelfItem { is_whole: false, ..items[1].clone() }];
        assert_eq!(model_file(&half, "file:a.onnx@bbbbbbbb"), None, "its bytes are still being written");
    }

    #[test]
    fn a_model_is_one_thing_by_its_content() {
        assert_eq!(shelf_item("file:a.onnx@aaaaaaaa:seq=128").id(), shelf_item("file:a.onnx@aaaaaaaa").id());
        assert_ne!(
            shelf_item("file:a.onnx@aaaaaaaa").id(),
            shelf_item("file:a.onnx@bbbbbbbb").id(),
            "one name and size"
        );
        assert_eq!(model_link("resnet50"), None);
        let line = shelf_item("file:a.onnx@aaaaaaaa").to_text();
        assert_eq!(ShelfItem::from_text(&line), Some(shelf_item("file:a.onnx@aaaaaaaa")));
    }
}
