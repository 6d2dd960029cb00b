//! Series of the plots that compare configurations: their names, and the colour of each, the same in all plots.

use ns_base::Order;
use ns_base::units::format_plural;
use ns_bench::Report;
use ns_view::palette::{GREY, distinct_fill};

/// Workers per model, and compiler options that are not the default.
type Setting = (u32, Option<String>);

/// The series of some reports: the instances, or of one instance its settings. A plot leaves out reports or sorts them, so it cannot number
/// its series by itself: the same series would have another colour in the plot beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesColours {
    instances: Vec<String>,
    settings: Vec<Setting>,
}

impl SeriesColours {
    pub fn of<'a>(reports: impl Iterator<Item = &'a Report> + Clone) -> Self {
        let mut instances: Vec<String> = reports.clone().map(|r| r.instance_type.clone()).collect();
        let mut settings: Vec<Setting> = reports.map(|r| (r.workers_per_model, r.unusual_compiler_args())).collect();
        instances.order();
        instances.dedup();
        settings.order();
        settings.dedup();
        Self { instances, settings }
    }

    fn has_instances(&self) -> bool {
        self.instances.len() > 1
    }

    /// Place in the palette of the series of a report.
    pub fn of_report(&self, r: &Report) -> u8 {
        match self.instances.iter().position(|i| *i == r.instance_type) {
            Some(place) if self.has_instances() => distinct_fill(place),
            _ => self.of_setting(r.workers_per_model, r.unusual_compiler_args().as_deref()),
        }
    }

    /// The name of the series of a report: its instance if there are several, else `2 workers per model` with the compiler options that are not
    /// the default.
    pub fn name_of(&self, r: &Report) -> String {
        if self.has_instances() {
            return r.instance_type.clone();
        }
        let workers = format!("{} per model", format_plural(r.workers_per_model, "worker"));
        [Some(workers), r.unusual_compiler_args()].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Place in the palette of a line of one instance, by its workers and its compiler flags; grey for a setting that no report has.
    pub fn of_setting(&self, workers: u32, compiler: Option<&str>) -> u8 {
        let place = self.settings.iter().position(|(w, c)| *w == workers && c.as_deref() == compiler);
        place.map_or(GREY, distinct_fill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_number_of_workers_and_not_the_order_of_reports() {
        let report = |workers| Report { workers_per_model: workers, ..Report::default() };
        let (one, two) = (report(1), report(2));
        let there = SeriesColours::of([&one, &two, &one].into_iter());
        let back = SeriesColours::of([&two, &one].into_iter());
        assert_eq!(there, back);
        assert_eq!((there.of_report(&one), there.of_report(&two)), (0, 1));
        assert_eq!(there.of_setting(3, None), GREY);
        assert_eq!(there.name_of(&two), "2 workers per model");
        let other = Report { instance_type: "trn1.2xlarge".to_owned(), ..report(1) };
        let both = SeriesColours::of([&one, &other].into_iter());
        assert_eq!(both.name_of(&other), "trn1.2xlarge");
        assert_ne!(both.of_report(&one), both.of_report(&other));
    }
}
