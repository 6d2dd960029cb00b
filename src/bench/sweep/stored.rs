//! How a sweep is written: a row as itself, though views share it, and a result as its report.

/// Rows that views of a sweep share.
pub(super) mod rows {
    use std::rc::Rc;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::super::state::SweepRow;

    pub fn serialize<S: Serializer>(rows: &[Rc<SweepRow>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rows.iter().map(|row| &**row))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rc<SweepRow>>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(Rc::new).collect())
    }
}

/// A result. Charts and measurements are not written: a file of a sweep holds reports.
pub(super) mod result {
    use std::rc::Rc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::reports::report::Report;
    use crate::run::configuration_run::RowResult;

    pub fn serialize<S: Serializer>(result: &Rc<RowResult>, serializer: S) -> Result<S::Ok, S::Error> {
        result.report.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rc<RowResult>, D::Error> {
        Ok(Rc::new(RowResult { report: Report::deserialize(deserializer)?, ..RowResult::default() }))
    }
}
