//! Archives with one entry changed, packed again.

use neuronscope::base::Rng;
use serde_json::Value;

use super::change::{EDGES, below, changed_bytes, changed_text};
use crate::import_aten::archive;

/// Entries of an archive that are stored without compression; none when it is damaged.
fn entries(file: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let end = file.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let short = |at: usize| Some(usize::from(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?)));
    let long = |at: usize| usize::try_from(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?)).ok();
    let (count, mut at) = (short(end + 10)?, long(end + 16)?);
    let mut found = Vec::new();
    for _ in 0..count {
        let (method, size, names) = (short(at + 10)?, long(at + 20)?, short(at + 28)?);
        let (extra, comment, local) = (short(at + 30)?, short(at + 32)?, long(at + 42)?);
        let name = String::from_utf8_lossy(file.get(at + 46..at + 46 + names)?).into_owned();
        if method == 0 {
            let start = local + 30 + short(local + 26)? + short(local + 28)?;
            found.push((name, file.get(start..start + size)?.to_vec()));
        }
        at += 46 + names + extra + comment;
    }
    (!found.is_empty()).then_some(found)
}

/// An archive with one entry changed; none when it cannot be taken apart.
pub(super) fn changed(rng: &mut Rng, file: &[u8]) -> Option<Vec<u8>> {
    let mut all = entries(file)?;
    let is_graph = |name: &str| {
        name.ends_with("model.json")
            || name.ends_with("program.json")
            || name.ends_with(".py")
            || name.ends_with(".pkl")
    };
    let graphs: Vec<usize> = (0..all.len()).filter(|&i| is_graph(&all[i].0) && !all[i].1.is_empty()).collect();
    // Mostly the graph, else any entry.
    let at = match graphs.get(below(rng, graphs.len())) {
        Some(&at) if below(rng, 6) > 0 => at,
        _ => below(rng, all.len()),
    };
    if below(rng, 30) == 0 {
        all.remove(at);
    } else if all[at].0.ends_with(".json")
        && let Ok(mut json) = serde_json::from_slice::<Value>(&all[at].1)
    {
        for _ in 0..=below(rng, 2) {
            change_json(rng, &mut json);
        }
        all[at].1 = json.to_string().into_bytes();
    } else if let (true, Ok(text)) = (all[at].0.ends_with(".py"), std::str::from_utf8(&all[at].1)) {
        all[at].1 = changed_text(rng, text).into_bytes();
    } else {
        all[at].1 = changed_bytes(rng, &all[at].1);
    }
    let parts: Vec<(&str, &[u8])> = all.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Some(archive(&parts))
}

/// One value somewhere in a document replaced, doubled or left out.
fn change_json(rng: &mut Rng, json: &mut Value) {
    let stops = below(rng, 12) == 0;
    match json {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(below(rng, fields.len())).cloned().unwrap_or_default();
            if stops {
                fields.remove(&name);
            } else if let Some(inner) = fields.get_mut(&name) {
                change_json(rng, inner);
            }
        }
        Value::Array(all) if !all.is_empty() => {
            let at = below(rng, all.len());
            match (stops, below(rng, 3)) {
                (false, _) => change_json(rng, &mut all[at]),
                (_, 0) => all.insert(at, all[at].clone()),
                (_, 1) => {
                    let other = below(rng, all.len());
                    all.swap(at, other);
                }
                _ => drop(all.remove(at)),
            }
        }
        other => *other = replaced(rng, other),
    }
}

fn replaced(rng: &mut Rng, value: &Value) -> Value {
    let edge = EDGES[below(rng, EDGES.len())];
    match (value, below(rng, 6)) {
        (Value::String(text), 0..=2) => changed_text(rng, text).into(),
        (_, 0) => Value::Null,
        (_, 1) => edge.into(),
        (Value::Bool(v), _) => Value::Bool(!v),
        _ => serde_json::from_str(edge).unwrap_or(Value::Null),
    }
}
