//! The source of a worker's next inference: endless inputs until a window closes, a dataset, queries that arrive
//! independently, or queries that follow one another.

use ns_base::Rng;
use ns_base::convert::{f64_to_u64, u64_to_f64};

/// The next action of a free worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Begins an inference that was asked for at this time, picoseconds.
    Begin(u64),
    /// Begins at this later time.
    At(u64),
    /// Waits until a query arrives.
    Wait,
    Stop,
}

/// Supplies workers with inferences.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Inputs until the window closes.
    Window { end: u64 },
    /// A fixed number of inputs for each copy.
    Dataset {
        /// Inputs that each copy has left.
        left: Box<[u64]>,
    },
    /// A fixed number of inputs for all copies together.
    Shared {
        /// Inputs that are left.
        left: u64,
    },
    /// Queries that arrive whether or not a worker is free.
    Arrivals(Arrivals),
    /// Queries of several inferences; the next query comes when the last one is answered.
    Streams(Streams),
}

#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    rng: Rng,
    mean_ps: f64,
    /// Time of the next arrival; kept as a float so that no rounding adds up.
    next_ps: f64,
    left: u64,
}

impl Arrivals {
    /// `count` arrivals, `mean_ps` apart on average.
    pub fn new(seed: u64, mean_ps: f64, count: u64) -> Self {
        let mut rng = Rng::new(seed, 0x6d6c_7065_7266);
        let next_ps = rng.exponential_f64() * mean_ps;
        Self { rng, mean_ps, next_ps, left: count }
    }

    fn take(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.next_ps;
        self.next_ps += self.rng.exponential_f64() * self.mean_ps;
        Some(f64_to_u64(at))
    }
}

/// One query at a time, each of the same number of inferences.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    inferences: u64,
    min_ps: u64,
    min_queries: u64,
    asked_ps: u64,
    /// Inferences of the query that no worker has begun.
    waiting: u64,
    /// Inferences of the query that are not answered yet.
    open: u64,
    queries: u64,
    is_over: bool,
}

impl Streams {
    /// Queries of `inferences` until both minima are met.
    pub fn new(inferences: u64, min_ps: u64, min_queries: u64) -> Self {
        let inferences = inferences.max(1);
        let (waiting, open) = (inferences, inferences);
        Self { inferences, min_ps, min_queries, asked_ps: 0, waiting, open, queries: 0, is_over: false }
    }
}

/// Effect of the end of an inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InferenceEnd {
    /// The inference is recorded with its own latency.
    Inference,
    /// The inference is part of an unfinished query.
    Part,
    /// It ends a query, asked for at this time; workers that wait are woken.
    Query(u64),
}

impl Source {
    #[inline]
    pub fn next(&mut self, now: u64, model: u32) -> Next {
        match self {
            Self::Window { end } => {
                if now < *end {
                    Next::Begin(now)
                } else {
                    Next::Stop
                }
            }
            Self::Dataset { left } => match left.get_mut(model as usize).filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    Next::Begin(now)
                }
                None => Next::Stop,
            },
            Self::Shared { left: 0 } => Next::Stop,
            Self::Shared { left } => {
                *left -= 1;
                Next::Begin(0)
            }
            Self::Arrivals(arrivals) => match arrivals.take() {
                Some(at) if at <= now => Next::Begin(at),
                Some(at) => Next::At(at),
                None => Next::Stop,
            },
            Self::Streams(s) if s.is_over => Next::Stop,
            Self::Streams(s) if s.waiting == 0 => Next::Wait,
            Self::Streams(s) => {
                s.waiting -= 1;
                Next::Begin(s.asked_ps)
            }
        }
    }

    #[inline]
    pub fn ended(&mut self, now: u64) -> InferenceEnd {
        let Self::Streams(s) = self else { return InferenceEnd::Inference };
        s.open -= 1;
        if s.open > 0 {
            return InferenceEnd::Part;
        }
        let asked = s.asked_ps;
        s.queries += 1;
        s.is_over = now >= s.min_ps && s.queries >= s.min_queries;
        (s.asked_ps, s.waiting, s.open) = (now, s.inferences, s.inferences);
        InferenceEnd::Query(asked)
    }

    /// Share of the work that is done, 0 to 1.
    pub fn share(&self, now: u64, recorded: u64) -> f64 {
        let of = |done: u64, total: u64| if total == 0 { 1.0 } else { u64_to_f64(done.min(total)) / u64_to_f64(total) };
        match self {
            Self::Window { end } => of(now, *end),
            Self::Dataset { left } => {
                let left: u64 = left.iter().fold(0, |sum, l| sum.saturating_add(*l));
                of(recorded, recorded.saturating_add(left))
            }
            Self::Shared { left } | Self::Arrivals(Arrivals { left, .. }) => {
                of(recorded, recorded.saturating_add(*left))
            }
            Self::Streams(s) => of(now, s.min_ps).min(of(s.queries, s.min_queries)),
        }
    }

    /// Whether the run ends with its data, not with the clock.
    pub const fn ends_with_data(&self) -> bool {
        !matches!(self, Self::Window { .. })
    }
}
