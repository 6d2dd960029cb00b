//! Checks flags given with an index against its models, which run as they were compiled.

use super::{ModelEntry, ModelIndex};
use crate::config::inputs::InputTuple;
use crate::config::list::comma_list;
use ns_base::{Refusal, refuse};
use ns_compiler::{AutoCast, CastType, OptLevel};
use ns_machine::arch::instance;
use ns_model::zoo::ModelSpec;

/// The values requested with an index; a value that is not given matches any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BesideIndex {
    /// Model specification.
    pub model: Option<String>,
    /// EC2 size.
    pub instance_type: Option<String>,
    /// Shapes of the inputs of one call, in any order.
    pub inputs: Vec<InputTuple>,
    /// Which operations are cast.
    pub auto_casts: Vec<AutoCast>,
    pub auto_cast_types: Vec<CastType>,
    /// How hard the compiler tries.
    pub opt_levels: Vec<OptLevel>,
    /// Physical cores of a logical core.
    pub lnc: Option<u32>,
}

impl BesideIndex {
    /// Whether every finished entry has the requested values. A value that an entry does not state counts as equal. An error names
    /// the first entry that differs.
    pub fn check(&self, index: &ModelIndex) -> Result<(), Refusal> {
        index.finished().try_for_each(|entry| self.check_entry(entry))
    }

    fn check_entry(&self, entry: &ModelEntry) -> Result<(), Refusal> {
        let conflict = |flag, asked: String, has: String| {
            let file = entry.filename.clone().or_else(|| entry.model.clone()).unwrap_or_default();
            Err(refuse!(
                "{flag} {asked}: {file} of the index was compiled with {has}; leave {flag} out, choose other entries, or compile again"
            ))
        };
        if let (Some(asked), Some(own)) = (&self.model, &entry.model)
            && !is_same_model(asked, own)
        {
            return conflict("--model", asked.clone(), own.clone());
        }
        if let (Some(asked), Some(own)) = (&self.instance_type, &entry.instance_type)
            && !is_same_size(asked, own)
        {
            return conflict("--instance", asked.clone(), own.clone());
        }
        if let Some(own) = entry.auto_cast.filter(|own| self.auto_casts.iter().any(|asked| asked != own)) {
            return conflict("--auto-cast", comma_list(&self.auto_casts), own.to_string());
        }
        if let Some(own) = entry.auto_cast_type.filter(|own| self.auto_cast_types.iter().any(|asked| asked != own)) {
            return conflict("--auto-cast-type", comma_list(&self.auto_cast_types), own.to_string());
        }
        if let Some(own) = entry.optlevel.filter(|own| self.opt_levels.iter().any(|asked| asked != own)) {
            return conflict("--optlevel", comma_list(&self.opt_levels), own.to_string());
        }
        if let (Some(asked), Some(own)) = (self.lnc, entry.lnc)
            && asked != own
        {
            return conflict("--lnc", asked.to_string(), own.to_string());
        }
        match self.own_inputs(entry) {
            Some(own) if !self.inputs.contains(&own) => {
                let all: Vec<String> = self.inputs.iter().map(ToString::to_string).collect();
                conflict("--inputs", all.join(";"), format!("inputs of {own} (batch size {})", entry.batch_size))
            }
            _ => Ok(()),
        }
    }

    /// The inputs that the entry's model takes, if inputs were asked for and the model is known.
    fn own_inputs(&self, entry: &ModelEntry) -> Option<InputTuple> {
        let model = entry.model.as_ref().or(self.model.as_ref()).filter(|_| !self.inputs.is_empty())?;
        let inputs = model.parse::<ModelSpec>().ok()?.inputs(u64::from(entry.batch_size)).ok()?;
        Some(InputTuple(inputs.iter().map(|i| i.shape.dims.to_vec()).collect()))
    }
}

/// Whether two texts mean one model: `matmult` and `matmult:n=1024` do when 1024 is the default.
fn is_same_model(a: &str, b: &str) -> bool {
    match (a.parse::<ModelSpec>(), b.parse::<ModelSpec>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a.trim() == b.trim(),
    }
}

fn is_same_size(a: &str, b: &str) -> bool {
    let name = |text: &str| instance(text.trim()).map_or_else(|| text.trim().to_owned(), |i| i.name.to_owned());
    name(a) == name(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_inputs;

    fn index() -> ModelIndex {
        let entry = ModelEntry {
            filename: Some("a.json".into()),
            batch_size: 2,
            model: Some("nn".into()),
            instance_type: Some("inf2.xlarge".into()),
            auto_cast: Some(AutoCast::Matmult),
            auto_cast_type: Some(CastType::Bf16),
            optlevel: Some(OptLevel::O2),
            ..ModelEntry::default()
        };
        ModelIndex::create(entry, None)
    }

    fn conflict(beside: BesideIndex) -> String {
        beside.check(&index()).unwrap_err().to_string()
    }

    #[test]
    fn what_an_entry_is_may_be_said_again() {
        let inputs = ModelSpec::inputs(&"nn".parse().unwrap(), 2).unwrap();
        let own = InputTuple(inputs.iter().map(|i| i.shape.dims.to_vec()).collect());
        let same = BesideIndex {
            model: Some("NN".into()),
            instance_type: Some("INF2.xlarge".into()),
            inputs: vec!["1x3".parse().unwrap(), own],
            auto_casts: vec![AutoCast::Matmult],
            auto_cast_types: vec![CastType::Bf16],
            opt_levels: vec![OptLevel::O2],
            lnc: Some(1),
        };
        assert_eq!(same.check(&index()), Ok(()));
        assert_eq!(BesideIndex::default().check(&index()), Ok(()));
    }

    #[test]
    fn what_an_entry_is_not_is_refused_with_the_flag() {
        assert_eq!(
            conflict(BesideIndex { instance_type: Some("trn1.2xlarge".into()), ..Default::default() }),
            "--instance trn1.2xlarge: a.json of the index was compiled with inf2.xlarge; leave --instance out, choose other entries, or compile again"
        );
        let says = |beside, start: &str| {
            let message = conflict(beside);
            assert!(message.starts_with(start), "{message}");
        };
        says(BesideIndex { model: Some("mlp".into()), ..Default::default() }, "--model mlp: a.json of the index was");
        let casts = vec![AutoCast::None, AutoCast::Matmult];
        says(BesideIndex { auto_casts: casts, ..Default::default() }, "--auto-cast none,matmult: ");
        says(BesideIndex { auto_cast_types: vec![CastType::Fp16], ..Default::default() }, "--auto-cast-type fp16: ");
        says(BesideIndex { opt_levels: vec![OptLevel::O1], ..Default::default() }, "--optlevel 1: ");
        let inputs = parse_inputs("1x3;9x9").unwrap();
        says(
            BesideIndex { inputs, ..Default::default() },
            "--inputs 1x3;9x9: a.json of the index was compiled with inputs of 8x4 (batch size 2)",
        );
    }
}
