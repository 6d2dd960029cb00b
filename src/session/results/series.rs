//! Series of the plots that compare configurations: their names, and the colour of each, the same in all plots.

use ns_base::convert::usize_to_u8;
use ns_bench::Report;
use ns_view::palette::GREY;

/// The values that are constant along a series: workers per model, and compiler options that are not the default.
type Key = (u32, Option<String>);

/// The series of some reports. A plot leaves out reports or sorts them, so it cannot number its series by itself: the same
/// series would have another colour in the plot beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesColours(Vec<Key>);

impl SeriesColours {
    /// The series of these reports, by number of workers.
    #[must_use]
    pub fn of<'a>(reports: impl Iterator<Item = &'a Report>) -> Self {
        let mut keys: Vec<Key> = reports.map(|r| (r.workers_per_model, r.unusual_compiler_args())).collect();
        keys.sort_unstable();
        keys.dedup();
        Self(keys)
    }

    /// Place in the palette of the series of a report.
    #[must_use]
    pub fn of_report(&self, r: &Report) -> u8 {
        self.of_key(r.workers_per_model, r.unusual_compiler_args().as_deref())
    }

    /// Place in the palette of a series by its workers and its compiler flags; grey for one that no report has.
    #[must_use]
    pub fn of_key(&self, workers: u32, compiler: Option<&str>) -> u8 {
        let place = self.0.iter().position(|(w, c)| *w == workers && c.as_deref() == compiler);
        place.map_or(GREY, |place| usize_to_u8(place % usize::from(GREY)))
    }
}

/// The name of the series of a report: `2 workers per model`, and compiler options that are not the default.
#[must_use]
pub fn series_text(r: &Report) -> String {
    let workers =
        format!("{} worker{} per model", r.workers_per_model, if r.workers_per_model == 1 { "" } else { "s" });
    r.unusual_compiler_args().map_or(workers.clone(), |flags| format!("{workers}, {flags}"))
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
        assert_eq!(there.of_key(3, None), GREY);
    }
}
