//! Accelerators by the names of their products.

/// The three short names that the suite's reports know, and the product text that each stands for.
pub const KNOWN_ACCELERATORS: [(&str, &str); 3] = [
    ("v100", "One of Tesla V100"),
    ("a6000", "One of Quadro P1000, NVIDIA RTX A6000"),
    ("a100", "NVIDIA A100-SXM4-40GB"),
];

/// The short name of a product, if the suite has one.
pub fn known_accelerator(model: &str) -> Option<&'static str> {
    KNOWN_ACCELERATORS.iter().find(|(_, text)| model.contains(text)).map(|(name, _)| *name)
}

/// The accelerator whose records are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceleratorChoice {
    /// One of the three short names; a record of any other product is an error.
    Known(String),
    /// A short name, the kind of accelerator in the records (`cpu`, `trn1`), or a part of the product's name.
    Named(String),
    Any,
}

impl AcceleratorChoice {
    /// Whether a record is selected; `None` when its product is an error.
    pub fn wants(&self, kind: Option<&str>, model: &str) -> Option<bool> {
        match self {
            Self::Known(name) => known_accelerator(model).map(|known| known == name),
            Self::Any => Some(true),
            Self::Named(name) => {
                let named = || {
                    kind.is_some_and(|k| k.eq_ignore_ascii_case(name))
                        || model.to_ascii_lowercase().contains(&name.to_ascii_lowercase())
                };
                // A short name means only its product.
                let short = KNOWN_ACCELERATORS.iter().any(|(known, _)| known == name);
                Some(if short { known_accelerator(model) == Some(name) } else { named() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_short_names() {
        assert_eq!(known_accelerator("One of Tesla V100-SXM2-16GB, ..."), Some("v100"));
        assert_eq!(known_accelerator("One of Quadro P1000, NVIDIA RTX A6000, "), Some("a6000"));
        assert_eq!(known_accelerator("Tesla V100-SXM2-16GB"), None);
        assert_eq!(AcceleratorChoice::Known("v100".into()).wants(None, "AMD EPYC"), None);
        assert_eq!(AcceleratorChoice::Named("v100".into()).wants(None, "AMD EPYC"), Some(false));
        let cpu = AcceleratorChoice::Named("cpu".into());
        assert_eq!(cpu.wants(Some("cpu"), "AMD EPYC"), Some(true));
        assert_eq!(AcceleratorChoice::Named("epyc".into()).wants(None, "AMD EPYC"), Some(true));
    }
}
