//! A progress bar on stderr, when stderr is a terminal.

use std::io::IsTerminal;

use super::shell::Shell;
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};

/// Shows progress on a terminal and nothing elsewhere.
pub(super) struct ProgressBar<'a> {
    bar: Bar,
    shell: &'a Shell,
}

impl<'a> ProgressBar<'a> {
    pub fn new(shell: &'a Shell) -> Self {
        let bar = Bar::new(0);
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        bar.set_draw_target(target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}%") {
            bar.set_style(style);
        }
        Self { bar, shell }
    }

    pub fn show(&mut self, done: u64, total: u64, label: &str) {
        if self.shell.give(|host| host.progress(done, total, label)).is_some() {
            return;
        }
        self.bar.set_length(total.max(done));
        self.bar.set_position(done);
        self.bar.set_message(label.to_owned());
    }

    /// A note on stderr, above the bar where there is one.
    pub fn note(&self, message: &str) {
        self.say(&format!("note: {message}"));
    }

    /// A line on stderr, above the bar where there is one.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| self.shell.say(line));
    }

    pub fn clear(&mut self) {
        self.bar.finish_and_clear();
        self.bar.reset();
    }
}
