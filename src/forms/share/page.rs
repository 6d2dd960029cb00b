//! The pages: their names in the header and in addresses.

use crate::studies::StudyKind;
use ns_base::names;

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Page {
        Home = "",
        /// Benchmarks of a model, as NeuronPerf runs them.
        Benchmark = "benchmark",
        /// Profiles, simulated or from files.
        Profile = "profile",
        /// A model as a picture.
        Inspect = "inspect",
        /// The values that a core computes, compared with those of the processor.
        Numerics = "numerics",
        /// Figures of devices beside what the model predicts.
        Fidelity = "fidelity",
        /// The study of matrix products.
        Matmult = "matmult",
        /// Kernels in C++: custom operators.
        Customop = "customop",
        /// Kernels in Python: NKI.
        Nki = "nki",
        /// The study of language models.
        Llm = "llm",
        /// Records of PyTorch/XLA's benchmark suite.
        Experiments = "experiments",
        /// The guide, with examples.
        Guide = "guide",
    }

    /// Its name in addresses: `profile` of `#/profile?v=1`.
    pub const fn path(self) -> &'static str;
    pub fn of_path(path: &str) -> Option<Self>;
}

impl Page {
    /// The pages in the header, in order; the logo leads to the start page.
    pub const IN_HEAD: [Self; 9] = [
        Self::Benchmark,
        Self::Profile,
        Self::Inspect,
        Self::Llm,
        Self::Numerics,
        Self::Matmult,
        Self::Nki,
        Self::Experiments,
        Self::Guide,
    ];

    /// Pages that are tabs of one page of the header, each with its own address: the choice, and the tabs with their names. The first is in
    /// the header.
    pub const TABS: [(&str, [(Self, &str); 2]); 2] = [
        ("Language of the kernel", [(Self::Nki, "NKI"), (Self::Customop, "C++ for GpSimd")]),
        ("What is compared", [(Self::Numerics, "Values"), (Self::Fidelity, "Times")]),
    ];

    /// The page of the header that it belongs to.
    pub const fn in_head(self) -> Self {
        match self {
            Self::Customop => Self::Nki,
            Self::Fidelity => Self::Numerics,
            other => other,
        }
    }

    /// Its name in the header.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Home => "Start",
            Self::Benchmark => "Benchmark",
            Self::Profile => "Profile",
            Self::Inspect => "Inspect",
            Self::Numerics => "Numerics",
            Self::Fidelity => "Fidelity",
            Self::Matmult => "Microbenchmark",
            Self::Customop | Self::Nki => "Kernels",
            Self::Llm => "LLMs",
            Self::Experiments => "Experiments",
            Self::Guide => "Guide",
        }
    }

    /// The hash of the page, without fields.
    pub fn hash(self) -> String {
        format!("#/{}", self.path())
    }

    /// The study on the page, if there is one: the one whose form has its path.
    pub fn study(self) -> Option<StudyKind> {
        StudyKind::ALL.into_iter().find(|kind| kind.path() == self.path())
    }

    pub fn of_study(kind: StudyKind) -> Self {
        Self::of_path(kind.path()).unwrap_or(Self::Home)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_have_the_names_of_their_forms() {
        for kind in StudyKind::ALL {
            let page = Page::of_study(kind);
            assert_eq!((page.path(), page.title()), (kind.path(), kind.form().title));
            assert_eq!(page.study(), Some(kind));
        }
    }

    #[test]
    fn every_page_is_found_by_its_path() {
        for page in Page::IN_HEAD.into_iter().chain([Page::Home]) {
            assert_eq!(Page::of_path(page.path()), Some(page));
        }
    }
}
