//! What a reader noticed in a profile, as part of every answer about it: a line of stderr, and `remarks` in JSON.

use std::path::Path;

use ns_base::Diagnostic;
use serde::Serialize;

use super::output;
use super::shell::Shell;

use ns_session::{Profile, ProfileInfo, WriteFormat};

/// This is about the unit of all numbers, and nothing is missing: `open` alone says it.
const NO_TIMES: &str = "weights_are_no_times";

/// A kind of problem of a profile.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Remark {
    /// The profile or the file that it is written to, as the arguments name it.
    profile: String,
    /// Stable name of the kind.
    code: String,
    /// Number of occurrences.
    count: u64,
    /// A sentence about it, with the first example.
    pub text: String,
}

/// Writes a profile to a file, and says what its format cannot hold. Fails when the file cannot be written.
pub(super) fn write_profile(
    shell: &Shell,
    path: &Path,
    profile: &Profile,
    format: WriteFormat,
) -> anyhow::Result<Vec<Remark>> {
    output::write_profile(shell, path, format.write(profile), format)?;
    let remarks = remarks_of(&path.display().to_string(), format.leaves_out(profile).items());
    remarks.iter().for_each(|remark| shell.note(&remark.text));
    Ok(remarks)
}

impl Remark {
    /// Whether it is about a profile or file of this name.
    pub fn is_of(&self, name: &str) -> bool {
        self.profile == name
    }
}

/// The remarks on a profile, under this name.
pub(super) fn remarks_on(profile: &str, info: &ProfileInfo) -> Vec<Remark> {
    remarks_of(profile, info.diagnostics.iter().filter(|d| d.code != NO_TIMES))
}

/// Problems as remarks, under the name of their profile or of the file that it is written to.
pub(super) fn remarks_of<'a>(name: &str, problems: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<Remark> {
    let remark = |d: &Diagnostic| Remark {
        profile: name.to_owned(),
        code: d.code.clone(),
        count: d.count,
        text: format!("{name}: {d}"),
    };
    problems.into_iter().map(remark).collect()
}

/// A pretty-printed JSON document with remarks: `remarks` is the first key of an object; a list becomes `rows` of an object.
/// Without remarks the document stays as it is. Fails when the remarks cannot be written, which would be a defect.
pub(super) fn with_remarks(json: Vec<u8>, remarks: &[Remark]) -> anyhow::Result<Vec<u8>> {
    if remarks.is_empty() {
        return Ok(json);
    }
    let inner = |text: &str| text.trim_end().replace('\n', "\n  ");
    let text = String::from_utf8(json)?;
    let remarks = inner(&serde_json::to_string_pretty(remarks)?);
    let rest = match text.strip_prefix("{\n") {
        Some(members) => members.to_owned(),
        None => format!("  \"rows\": {}\n}}\n", inner(&text)),
    };
    Ok(format!("{{\n  \"remarks\": {remarks},\n{rest}").into_bytes())
}
