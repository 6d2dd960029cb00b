//! A trace that is not the outermost object of its file, but inside it.

use super::scan::{MAX_DEPTH, skip_space, string_end, value_end};

/// Start and end of the object with the first array `traceEvents`, whatever is around it. An object that is cut off
/// ends with the text.
pub fn nested_trace(text: &[u8]) -> Option<std::ops::Range<usize>> {
    let (mut open, mut at) = (Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let end = string_end(text, at)?;
                let is_key = &text[at..end] == b"traceEvents" && is_array_of_key(text, end + 1);
                at = end + 1;
                if let Some(&begin) = open.last().filter(|_| is_key) {
                    return Some(begin..value_end(text, begin).unwrap_or(text.len()));
                }
            }
            b'{' | b'[' if open.len() == MAX_DEPTH as usize => return None,
            b'{' | b'[' => open.push(at - 1),
            b'}' | b']' => {
                open.pop();
            }
            _ => {}
        }
    }
    None
}

/// Whether a colon and an array follow.
fn is_array_of_key(text: &[u8], at: usize) -> bool {
    let colon = skip_space(text, at);
    text.get(colon) == Some(&b':') && text.get(skip_space(text, colon + 1)) == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_around_the_events() {
        let text = br#"{"traceEvents":{"x":["traceEvents"]},"a":[1,{"b":"}","traceEvents" : [{}] ,"c":1}]}"#;
        let found = nested_trace(text).unwrap();
        assert_eq!(&text[found], br#"{"b":"}","traceEvents" : [{}] ,"c":1}"#);
        let cut = &text[..text.len() - 10];
        assert_eq!(nested_trace(cut).unwrap().end, cut.len());
        for none in [&br#"{"a":"traceEvents"}"#[..], br#"["traceEvents",[1]]"#, br#"{"traceEvents":null}"#, b"\"", b""]
        {
            assert_eq!(nested_trace(none), None);
        }
        assert_eq!(nested_trace("[".repeat(100_000).as_bytes()), None);
    }
}
