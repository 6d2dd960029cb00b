//! Backends: which combinations of runtime and compiler the reports compare.

use ns_base::{Refusal, names, refuse};

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Backend {
        /// No compiler.
        Eager = "eager",
        /// torch.compile with its own code generator.
        Inductor = "inductor",
        /// torch.compile with XLA.
        OpenxlaDynamo = "openxla+dynamo",
        /// XLA's lazy tensors.
        OpenxlaLazytensor = "openxla+lazytensor",
    }

    pub const ALL: [Self; _];
    /// Its name in options and legends.
    pub const fn name(self) -> &'static str;
    pub fn from_name(name: &str) -> Option<Self>;
}

/// How headings call the backends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendNames {
    /// As the suite does today.
    #[default]
    Suite,
    /// As the samples in the suite's README do, which are older.
    Readme,
}

impl BackendNames {
    /// The name of a backend in headings.
    pub const fn title(self, backend: Backend) -> &'static str {
        match (self, backend) {
            (Self::Readme, Backend::OpenxlaDynamo) => "PytorchXLA",
            _ => backend.title(),
        }
    }
}

impl Backend {
    /// Its name in headings.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Eager => "Eager",
            Self::Inductor => "Inductor",
            Self::OpenxlaDynamo => "XLA+Dynamo",
            Self::OpenxlaLazytensor => "XLA+LazyTensor",
        }
    }

    /// The backend of a record. XLA flags and torch_xla2 make no difference. Fails when runtime and compiler cannot be combined.
    pub fn of(dynamo: Option<&str>, xla: Option<&str>) -> Result<Self, Refusal> {
        match (dynamo, xla) {
            (Some("inductor"), _) => Ok(Self::Inductor),
            (Some("openxla"), Some("PJRT")) => Ok(Self::OpenxlaDynamo),
            (None, Some("PJRT")) => Ok(Self::OpenxlaLazytensor),
            (None, None) => Ok(Self::Eager),
            _ => {
                let (dynamo, xla) = (dynamo.unwrap_or("null"), xla.unwrap_or("null"));
                Err(refuse!("dynamo={dynamo} with xla={xla} is not a known backend"))
            }
        }
    }

    /// Its place in [`Self::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_backends() {
        assert_eq!(Backend::of(None, None), Ok(Backend::Eager));
        assert_eq!(Backend::of(Some("inductor"), Some("PJRT")), Ok(Backend::Inductor));
        assert_eq!(Backend::of(Some("openxla"), Some("PJRT")), Ok(Backend::OpenxlaDynamo));
        assert!(Backend::of(Some("openxla_eval"), Some("PJRT")).is_err());
        assert!(Backend::of(None, Some("XRT")).is_err());
    }
}
