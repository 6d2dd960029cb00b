//! Families of models: those of one architecture. A judgement of a family must not have seen any of its models.

use ns_model::zoo::ModelSpec;

/// Beginnings of the names of a family's models.
const FAMILIES: [(&str, &[&str]); 6] = [
    ("BERT", &["bert", "roberta", "electra"]),
    ("ViT", &["vit"]),
    ("ResNet", &["resnet"]),
    ("VGG", &["vgg"]),
    ("CLIP", &["clip"]),
    ("U-Net", &["unet"]),
];

/// The family of a row's model; a model that is in none is its own.
pub(super) fn family_of(model: &str) -> String {
    let spec = model.trim().to_ascii_lowercase().parse::<ModelSpec>();
    let id = spec.map_or_else(|_| model.to_owned(), |spec| spec.id().to_owned());
    let name = id.rsplit('/').next().unwrap_or(&id).to_ascii_lowercase();
    let family = FAMILIES.iter().find(|(_, begins)| begins.iter().any(|begin| name.starts_with(begin)));
    family.map_or_else(|| id.clone(), |(family, _)| (*family).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_is_a_family() {
        assert_eq!(
            ["bert-base-uncased", "roberta-large", "google/electra-base-discriminator"].map(family_of),
            ["BERT"; 3]
        );
        assert_eq!(["UNet", "openai/clip-vit-base-patch32"].map(family_of), ["U-Net", "CLIP"]);
        assert_eq!(["distilbert-base-uncased", "albert-base-v2"].map(family_of).map(|f| f == "BERT"), [false; 2]);
    }
}
