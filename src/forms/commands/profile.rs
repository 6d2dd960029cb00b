//! Commands of the tools of the profile page.

use super::shell::{CommandLine, has_name};
use crate::options::{Opt, Options as _};
use crate::share::{FlameView, ProfileLink, Tool};
use crate::{ProfileOrigin, ProfileSpec};
use ns_analysis::compare::Measure;

/// The command that gives a tool's view of a profile, compared with `base` if the tool compares. `None` if the command line has
/// no equivalent: for the rows of engines, a benchmark's timeline and a model file.
pub fn profile_command(origin: &ProfileOrigin, base: Option<&ProfileOrigin>, link: &ProfileLink) -> Option<String> {
    match link.tool {
        Tool::Overview => Some(whole(origin)?.option("html", "overview.html").print()),
        Tool::Summary => Some(whole(origin)?.flag("summary", true).print()),
        Tool::OperatorFramework | Tool::OperatorHlo if is_simulated(origin) => Some(whole(origin)?.print()),
        Tool::OperatorTimeline => Some(whole(origin)?.option("output", "timeline.json").print()),
        Tool::OperatorFramework | Tool::OperatorHlo => {
            Some(with_slices(CommandLine::new("operators").word(&source(origin)?), link).print())
        }
        Tool::OperatorEngine | Tool::Trace => None,
        Tool::Statistics => {
            let line = CommandLine::new("operators").word(&source(origin)?).option("by", link.group_by.name());
            Some(with_slices(line, link).print())
        }
        Tool::FlameGraph => Some(flame(&source(origin)?, link)),
        Tool::Modules => {
            Some(ranged(CommandLine::new("flame").word(&source(origin)?).flag("modules", true), link).print())
        }
        Tool::CriticalPath => Some(ranged(CommandLine::new("critical-path").word(&source(origin)?), link).print()),
        Tool::IdleGaps => Some(ranged(CommandLine::new("idle").word(&source(origin)?), link).print()),
        Tool::Counters => {
            let line = CommandLine::new("counters").word(&source(origin)?).some("curve", link.counter.as_deref());
            Some(ranged(line, link).print())
        }
        Tool::Compare => {
            let line = CommandLine::new("compare").word(&source(base?)?).word(&source(origin)?);
            let line = line.flag("total", link.compare.measure == Measure::Total);
            Some(line.flag("per-step", link.compare.per_step).some("level", link.level.as_deref()).print())
        }
        Tool::Ask => {
            let line = CommandLine::new("query").word(&source(origin)?);
            let line = if link.ask.is_empty() { line } else { line.word(&link.ask) };
            Some(line.some("level", link.level.as_deref()).print())
        }
    }
}

const fn is_simulated(origin: &ProfileOrigin) -> bool {
    matches!(origin, ProfileOrigin::Simulated(_))
}

/// The command for a whole profile: `profile` for a run, `open` for a file.
fn whole(origin: &ProfileOrigin) -> Option<CommandLine> {
    match origin {
        ProfileOrigin::Simulated(spec) => {
            let line = CommandLine::new("profile").option("model", plain_model(spec)?);
            Some(flags(spec).into_iter().fold(line, |line, (name, value)| line.option(&name, &value)))
        }
        ProfileOrigin::File { name, .. } => Some(CommandLine::new("open").word(name)),
        ProfileOrigin::Benchmark(_) => None,
    }
}

/// The name of a profile for the commands that analyse: a file, or `sim:MODEL?workflow=trace&instance=inf1.xlarge`.
fn source(origin: &ProfileOrigin) -> Option<String> {
    match origin {
        ProfileOrigin::Simulated(spec) => {
            let flags: Vec<String> = flags(spec).iter().map(|(name, value)| format!("{name}={value}")).collect();
            Some(format!("sim:{}?{}", plain_model(spec)?, flags.join("&")))
        }
        ProfileOrigin::File { name, .. } => Some(name.clone()),
        ProfileOrigin::Benchmark(_) => None,
    }
}

fn plain_model(spec: &ProfileSpec) -> Option<&str> {
    let is_plain = has_name(&spec.model) && !spec.model.contains(['?', '&']);
    is_plain.then_some(spec.model.as_str())
}

/// The flags of a simulated run but for its model: how and where it runs, and what is not the default.
fn flags(spec: &ProfileSpec) -> Vec<(String, String)> {
    let default = ProfileSpec::default();
    let said = ProfileSpec::options().filter(|o| o.key() != "model").map(|option| (option, option.text(spec)));
    let is_said = |(option, text): &(&Opt<ProfileSpec>, String)| {
        !text.is_empty() && (matches!(option.key(), "workflow" | "instance") || *text != option.text(&default))
    };
    said.filter(is_said).map(|(option, text)| (option.flag_name(), text)).collect()
}

/// Adds the span, if the tool covers only the visible part.
fn ranged(line: CommandLine, link: &ProfileLink) -> CommandLine {
    let span = link.span.filter(|_| link.in_view).map(|span| format!("{}..{}", span.start.0, span.end.0));
    line.some("range", span.as_deref())
}

/// Adds the level and the span.
fn with_slices(line: CommandLine, link: &ProfileLink) -> CommandLine {
    ranged(line, link).some("level", link.level.as_deref())
}

fn flame(source: &str, link: &ProfileLink) -> String {
    let line = CommandLine::new("flame").word(source);
    let line = match link.flame.view {
        FlameView::Sandwich if !link.flame.name.is_empty() => line.option("name", &link.flame.name),
        FlameView::ByThread => line.flag("by-thread", true),
        FlameView::Inverted => line.flag("inverted", true),
        _ => line,
    };
    with_slices(line, link).print()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_analysis::GroupBy;
    use ns_base::{Interval, TraceNs};

    fn simulated(model: &str) -> ProfileOrigin {
        ProfileOrigin::Simulated(ProfileSpec { model: model.to_owned(), ..ProfileSpec::default() })
    }

    #[test]
    fn a_command_names_the_choices_of_a_tool() {
        let origin = &simulated("nn");
        let link = ProfileLink {
            tool: Tool::Statistics,
            group_by: GroupBy::Module,
            level: Some("all".into()),
            span: Some(Interval::new(TraceNs(5), TraceNs(900))),
            in_view: true,
            ..ProfileLink::default()
        };
        assert_eq!(
            profile_command(origin, None, &link).unwrap(),
            "neuronscope operators 'sim:nn?workflow=mark_step&instance=trn1.2xlarge' --by module --range 5..900 --level all"
        );
        let compare = ProfileLink { tool: Tool::Compare, ..ProfileLink::default() };
        assert_eq!(profile_command(origin, None, &compare), None);
        let base = &simulated("mlp");
        let command = profile_command(origin, Some(base), &compare).unwrap();
        assert!(command.starts_with("neuronscope compare 'sim:mlp?") && command.contains(" 'sim:nn?"), "{command}");
    }

    #[test]
    fn a_model_file_has_no_command() {
        let origin = simulated("file:a.onnx@x");
        for tool in Tool::ALL {
            let link = ProfileLink { tool, ..ProfileLink::default() };
            assert_eq!(profile_command(&origin, None, &link), None, "{tool:?}");
        }
    }
}
