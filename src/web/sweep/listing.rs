//! What a sweep will run and take, before it runs.

use std::cell::RefCell;
use std::rc::Rc;

use yew::Callback;

use super::runner::{Sweep, SweepRunner};
use crate::bench::{BenchConfig, DeviceType, SweepState};
use crate::session::{Event, Request};
use crate::web::state::bench::BenchAction;

impl SweepRunner {
    /// Lists the configurations of a benchmark, then what each will take, as workers find out.
    pub fn list(&self, config: &BenchConfig) {
        self.stop_listing();
        if self.0.core.borrow().is_running {
            return;
        }
        let sweep = match SweepState::new(config.clone()) {
            Ok(sweep) => Rc::new(RefCell::new(sweep)),
            Err(error) => {
                self.0.core.borrow_mut().preview = None;
                self.0.dispatch.dispatch(BenchAction::Listed(Err(error.to_string())));
                return;
            }
        };
        self.0.core.borrow_mut().preview = Some(Rc::clone(&sweep));
        self.show_preview(&sweep);
        // How long a measurement takes is not known before it was made, nor how often a scenario tries.
        if config.options.device_type == DeviceType::Cpu || config.mlperf.is_some() {
            return;
        }
        let Ok(engine) = self.0.pool.bench() else { return };
        let runner = self.clone();
        let on_event = Callback::from(move |event| runner.on_listing(&sweep, event));
        let config = Box::new(config.clone());
        let job = engine.send(|job| Request::PlanBench { job, config }, None, on_event);
        self.0.core.borrow_mut().listing = Some((engine, job));
    }

    pub(super) fn on_listing(&self, sweep: &Sweep, event: Event) {
        match event {
            Event::Estimated { row, estimate, times, .. } => {
                let key = sweep.borrow().rows().get(row as usize).map(|r| r.planned.configuration.times_key());
                if let (Some(key), Some(times)) = (key, times) {
                    self.0.core.borrow_mut().times.insert(key, *times);
                }
                sweep.borrow_mut().learn(row, estimate);
                self.show_later();
            }
            event if event.is_last() => {
                self.0.core.borrow_mut().listing = None;
                self.show_preview(sweep);
            }
            _ => {}
        }
    }

    pub(super) fn show_preview(&self, sweep: &Sweep) {
        let view = self.view_of(sweep);
        self.0.dispatch.dispatch(BenchAction::Listed(Ok(view)));
    }

    pub(super) fn stop_listing(&self) {
        let listing = self.0.core.borrow_mut().listing.take();
        if let Some((engine, job)) = listing {
            engine.forget(job);
            engine.tell(&Request::Cancel { job });
        }
    }
}
