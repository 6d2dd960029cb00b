//! Backends: which combinations of runtime and compiler the reports compare.

use ns_base::{Refusal, refuse};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// No compiler.
    Eager,
    /// torch.compile with its own code generator.
    Inductor,
    /// torch.compile with XLA.
    OpenxlaDynamo,
    /// XLA's lazy tensors.
    OpenxlaLazytensor,
}

/// A backend's two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendNames {
    /// Name in options and legends.
    pub id: &'static str,
    /// Name in headings.
    pub title: &'static str,
}

impl Backend {
    pub const ALL: [Self; 4] = [Self::Eager, Self::Inductor, Self::OpenxlaDynamo, Self::OpenxlaLazytensor];

    #[must_use]
    pub const fn names(self) -> BackendNames {
        let (id, title) = match self {
            Self::Eager => ("eager", "Eager"),
            Self::Inductor => ("inductor", "Inductor"),
            Self::OpenxlaDynamo => ("openxla+dynamo", "XLA+Dynamo"),
            Self::OpenxlaLazytensor => ("openxla+lazytensor", "XLA+LazyTensor"),
        };
        BackendNames { id, title }
    }

    /// Its name in headings.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.names().title
    }

    /// The backend with the name of an option.
    #[must_use]
    pub fn from_name(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| b.names().id == id)
    }

    /// The backend of a record. XLA flags and torch_xla2 make no difference.
    ///
    /// # Errors
    /// When runtime and compiler cannot be combined.
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
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Eager => 0,
            Self::Inductor => 1,
            Self::OpenxlaDynamo => 2,
            Self::OpenxlaLazytensor => 3,
        }
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
        for (i, backend) in Backend::ALL.into_iter().enumerate() {
            assert_eq!((Backend::from_name(backend.names().id), backend.index()), (Some(backend), i));
        }
    }
}
