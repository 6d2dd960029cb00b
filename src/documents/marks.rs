//! The user's marks and ranges, kept in the Chrome trace that a profile is written as.
//!
//! They are the member `neuronscopeMarks` of the trace's object, which other readers skip: a list of `start_ns`, `end_ns` and
//! `label`, in nanoseconds from the start of the profile.

use ns_base::Order;
use ns_profile::Profile;
use ns_view::timeline::Annotation;

/// Key of the marks among the members of the trace's object.
const KEY: &str = "neuronscopeMarks";

/// The marks that a profile was read with; empty if there are none or they cannot be understood.
pub fn marks_of(profile: &Profile) -> Vec<Annotation> {
    let marks: Option<Vec<Annotation>> = text_of(profile).and_then(|json| serde_json::from_str(json).ok());
    let mut marks = marks.unwrap_or_default();
    marks.retain(|mark| mark.start_ns <= mark.end_ns);
    marks.order_by_key(|mark| (mark.start_ns, mark.end_ns));
    marks
}

fn text_of(profile: &Profile) -> Option<&str> {
    profile.meta().properties.iter().find(|(key, _)| key == KEY).map(|(_, json)| json.as_str())
}

/// A Chrome trace of a profile with these marks instead of those it was read with.
pub fn with_marks(trace: String, profile: &Profile, marks: &[Annotation]) -> String {
    let Ok(json) = serde_json::to_string(marks) else { return trace };
    let member = format!("\"{KEY}\":{json},");
    let known = text_of(profile).map(|old| format!("\"{KEY}\":{old},"));
    match known.filter(|old| trace.contains(old.as_str())) {
        Some(old) => trace.replacen(&old, &member, 1),
        None if marks.is_empty() => trace,
        None => trace.replacen('{', &format!("{{{member}"), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_formats::chrome::write_to_string;
    use ns_formats::{ChunkedReader, ProfileReader};

    fn read(text: &str) -> Profile {
        let mut reader = ProfileReader::new("a.json");
        reader.push(text.as_bytes()).expect("can be read");
        reader.finish_all().expect("is a profile").remove(0)
    }

    fn mark(start_ns: i64, end_ns: i64, label: &str) -> Annotation {
        Annotation { start_ns, end_ns, label: label.to_owned() }
    }

    #[test]
    fn marks_survive_export_and_are_replaced_by_new_ones() {
        let plain = read(r#"{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"a"}]}"#);
        assert_eq!(marks_of(&plain), []);
        assert_eq!(with_marks(write_to_string(&plain), &plain, &[]), write_to_string(&plain));
        let marks = [mark(0, 0, "A \"quoted\" {"), mark(1, 2_000, "B")];
        let marked = read(&with_marks(write_to_string(&plain), &plain, &marks));
        assert_eq!(marks_of(&marked), marks);
        assert_eq!(marked.slices().len(), 1);
        let again = with_marks(write_to_string(&marked), &marked, &marks[1..]);
        assert_eq!(again.matches(KEY).count(), 1);
        assert_eq!(marks_of(&read(&again)), marks[1..]);
        assert_eq!(marks_of(&read(&with_marks(write_to_string(&marked), &marked, &[]))), []);
    }

    #[test]
    fn an_invalid_list_of_marks_is_ignored() {
        for text in ["7", r#"[{"start_ns":1}]"#, r#"[{"start_ns":9,"end_ns":1,"label":""}]"#] {
            let trace =
                format!(r#"{{"neuronscopeMarks":{text},"traceEvents":[{{"ph":"X","ts":5,"dur":2,"name":"a"}}]}}"#);
            assert_eq!(marks_of(&read(&trace)), []);
        }
    }
}
