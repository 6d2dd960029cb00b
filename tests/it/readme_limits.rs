//! README.md, "What it does not do yet": each limit has a command that meets it. A limit that falls fails here.

use crate::folder::Folder;
use crate::shell::page;

/// The limits of the page: the command, and what it says.
fn limits(page: &str) -> Vec<(String, String)> {
    let (_, rest) = page.split_once("\n## What it does not do yet\n").expect("the chapter");
    let chapter = rest.split("\n## ").next().expect("its text");
    let rows = chapter.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        (cells[1].to_owned(), cells[2].to_owned())
    })
    .collect()
}

#[test]
fn each_limit_of_the_readme_is_met_by_its_command() {
    let folder = Folder::new("limits");
    let mut header = [0; 128];
    (header[0x0b], header[0x7b]) = (4, 4);
    folder.write("profile.ntff", [&header[..], b"\x0a\x0amodel.neff"].concat());
    folder.write("kernel.py", "import neuronxcc.nki as nki\n");
    let limits = limits(&page("README.md"));
    assert!(limits.len() >= 5, "{limits:?}");
    for (command, says) in limits {
        let output = folder.run(&command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(&says), "{command}: {said}");
    }
}
