//! One line of the log.

use crate::decimal::{TimeUnit, text_to_ns};

/// A line that is an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub comm: &'a str,
    pub tid: &'a str,
    /// The process, in logs that name it.
    pub tgid: Option<&'a str>,
    pub cpu: u32,
    pub ts_ns: i64,
    pub function: &'a str,
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// The event in a line of text; `None` for comments and everything else.
    pub fn parse(line: &'a str) -> Option<Self> {
        // In old pages the log is a string of a script, with its line breaks escaped.
        let line = line.trim().trim_end_matches('\\').trim_end_matches("\\n").trim_end_matches("\";");
        let line = line.strip_suffix("\\n").unwrap_or(line);
        let open = line.find(" [").filter(|_| !line.starts_with('#'))?;
        let (task, rest) = (line[..open].trim_end(), &line[open + 2..]);
        let (cpu, rest) = rest.split_once(']')?;
        let cpu = cpu.trim().parse().ok()?;
        let (task, tgid) = match task.strip_suffix(')').and_then(|t| t.rsplit_once('(')) {
            Some((task, tgid)) => (task.trim_end(), Some(tgid.trim()).filter(|t| !t.starts_with('-'))),
            None => (task, None),
        };
        let (comm, tid) = task.rsplit_once('-')?;
        let is_number = !tid.is_empty() && tid.bytes().all(|b| b.is_ascii_digit());
        // Flags of the interrupt state are one word without a colon, in newer logs.
        let (time, rest) = rest.split_once(": ")?;
        let time = time.split_whitespace().next_back()?;
        let ts_ns = text_to_ns(time.as_bytes(), TimeUnit::S).ok()?;
        let (function, text) = rest.split_once(':')?;
        let is_word = !function.is_empty() && function.bytes().all(|b| b.is_ascii_graphic());
        (is_number && is_word).then_some(Self {
            comm: comm.trim_start(),
            tid,
            tgid,
            cpu,
            ts_ns,
            function,
            text: text.trim(),
        })
    }

    /// Whether the text is a mark that a program wrote.
    pub fn is_mark(&self) -> bool {
        matches!(self.function, "tracing_mark_write" | "print" | "0")
    }

    /// The value of `key=` in the text, to the next space.
    pub fn field(&self, key: &str) -> Option<&'a str> {
        let from = self.text.match_indices(key).find(|(at, _)| {
            let before = self.text[..*at].chars().next_back();
            before.is_none_or(char::is_whitespace) && self.text[at + key.len()..].starts_with('=')
        })?;
        self.text[from.0 + key.len() + 1..].split_whitespace().next()
    }

    /// The value of `key=` in the text, to the key that follows: names of tasks have spaces.
    pub fn field_until(&self, key: &str, next: &str) -> Option<&'a str> {
        let from = self.text.find(key)? + key.len();
        let rest = self.text.get(from..)?.strip_prefix('=')?;
        Some(rest[..rest.find(next)?].trim_end())
    }
}

/// Whether a text is an ftrace log: it has the header, or an event among its first lines.
pub fn looks_ftrace(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&head[..head.len().min(4096)]);
    text.starts_with("# tracer:")
        || text.starts_with("TRACE:")
        || text.lines().take(20).any(|line| !line.starts_with('#') && Line::parse(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_old_and_new_kernels() {
        let old =
            r"     kworker/0:0-13696 [000] 50260.647590: sched_wakeup: comm=mmcqd/0 pid=95 prio=120 target_cpu=000\n\";
        let line = Line::parse(old).unwrap();
        assert_eq!((line.comm, line.tid, line.tgid, line.cpu), ("kworker/0:0", "13696", None, 0));
        assert_eq!((line.ts_ns, line.function, line.field("pid")), (50_260_647_590_000, "sched_wakeup", Some("95")));
        assert_eq!(line.field("target_cpu"), Some("000"));
        let new = " my app-1-12 (  655) [003] d..2 1.5: tracing_mark_write: B|655|draw: all";
        let line = Line::parse(new).unwrap();
        assert_eq!((line.comm, line.tid, line.tgid, line.cpu), ("my app-1", "12", Some("655"), 3));
        assert_eq!((line.ts_ns, line.is_mark(), line.text), (1_500_000_000, true, "B|655|draw: all"));
        for other in ["# tracer: nop", "", "<html>", "a-1 [0] x: f: g", "a [0] 1.0: f: g"] {
            assert_eq!(Line::parse(other), None, "{other}");
        }
    }
}
