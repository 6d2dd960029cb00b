//! Small JSON texts: the arguments that readers make for events of formats without arguments.

/// Appends a JSON string.
pub fn push_json_str(out: &mut String, text: &str) {
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // A string always serialises.
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// An object that grows member by member.
#[derive(Debug, Default)]
pub struct ObjectText(String);

impl ObjectText {
    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        push_json_str(&mut self.0, key);
        self.0.push(':');
    }

    /// A string; left out if it is empty.
    pub fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.key(key);
            push_json_str(&mut self.0, text);
        }
    }

    /// A value that is JSON already; left out if it is empty or not strictly valid JSON.
    pub fn raw(&mut self, key: &str, json: &str) {
        if serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() {
            self.key(key);
            self.0.push_str(json);
        }
    }

    pub fn number(&mut self, key: &str, number: impl std::fmt::Display) {
        self.key(key);
        self.0.push_str(&number.to_string());
    }

    /// Takes the object and starts a new one; empty text when it has no members.
    pub fn take(&mut self) -> String {
        if !self.0.is_empty() {
            self.0.push('}');
        }
        std::mem::take(&mut self.0)
    }
}
