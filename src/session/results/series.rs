//! Series of the plots that compare configurations: their names, and the colour of each, the same in all plots.

use ns_base::convert::usize_to_u8;
use ns_base::units::format_plural;
use ns_bench::Report;
use ns_view::palette::GREY;

/// The values that are constant along a series: the instance, workers per model, and compiler options that are not the default.
type Key = (String, u32, Option<String>);

/// The series of some reports. A plot leaves out reports or sorts them, so it cannot number its series by itself: the same
/// series would have another colour in the plot beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesColours(Vec<Key>);

impl SeriesColours {
    /// The series of these reports, by instance and number of workers.
    #[must_use]
    pub fn of<'a>(reports: impl Iterator<Item = &'a Report>) -> Self {
        let mut keys: Vec<Key> =
            reports.map(|r| (r.instance_type.clone(), r.workers_per_model, r.unusual_compiler_args())).collect();
        keys.sort_unstable();
        keys.dedup();
        Self(keys)
    }

    /// Place in the palette of the series of a report.
    #[must_use]
    pub fn of_report(&self, r: &Report) -> u8 {
        self.of_key(&r.instance_type, r.workers_per_model, r.unusual_compiler_args().as_deref())
    }

    /// The name of the series of a report: `2 workers per model`, with the instance if there are several, and compiler options
    /// that are not the default.
    #[must_use]
    pub fn name_of(&self, r: &Report) -> String {
        let has_instances = self.0.first().zip(self.0.last()).is_some_and(|(first, last)| first.0 != last.0);
        let instance = Some(r.instance_type.clone()).filter(|_| has_instances);
        let workers = format!("{} per model", format_plural(r.workers_per_model, "worker"));
        let parts = [instance, Some(workers), r.unusual_compiler_args()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Place in the palette of a series by its instance, its workers and its compiler flags; grey for one that no report has.
    #[must_use]
    pub fn of_key(&self, instance: &str, workers: u32, compiler: Option<&str>) -> u8 {
        let place = self.0.iter().position(|(i, w, c)| i == instance && *w == workers && c.as_deref() == compiler);
        place.map_or(GREY, |place| usize_to_u8(place % usize::from(GREY)))
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
        assert_eq!(there.of_key("", 3, None), GREY);
        assert_eq!(there.name_of(&two), "2 workers per model");
        let other = Report { instance_type: "trn1.2xlarge".to_owned(), ..report(1) };
        let both = SeriesColours::of([&one, &other].into_iter());
        assert_eq!(both.name_of(&other), "trn1.2xlarge, 1 worker per model");
        assert_ne!(both.of_report(&one), both.of_report(&other));
    }
}
