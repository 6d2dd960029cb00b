//! Workers at hand. Each profile has one of its own, so that closing a profile gives its memory back (wasm memory never
//! shrinks), and a file that brings its worker down takes nothing else with it. One worker is always kept warm.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;

use super::Engine;

/// A new worker is started so long after the last one was taken, when the page has more urgent things behind it.
const WARM_UP_MS: u32 = 400;

/// Workers at hand. Clones share them.
#[derive(Clone, Default)]
pub struct Pool(Rc<RefCell<Workers>>);

#[derive(Default)]
struct Workers {
    spare: Option<Engine>,
    bench: Option<Engine>,
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Pool {
    /// A worker of one's own, usually a warm one.
    ///
    /// # Errors
    /// When the browser starts no worker.
    pub fn take(&self) -> Result<Engine, String> {
        let spare = self.0.borrow_mut().spare.take().filter(Engine::is_alive);
        let engine = spare.map_or_else(Engine::spawn, Ok)?;
        let pool = self.clone();
        Timeout::new(WARM_UP_MS, move || pool.warm_up()).forget();
        Ok(engine)
    }

    /// The worker that benchmarks run in.
    ///
    /// # Errors
    /// When the browser starts no worker.
    pub fn bench(&self) -> Result<Engine, String> {
        let running = self.0.borrow().bench.clone().filter(Engine::is_alive);
        if let Some(engine) = running {
            return Ok(engine);
        }
        let engine = self.take()?;
        self.0.borrow_mut().bench = Some(engine.clone());
        Ok(engine)
    }

    fn warm_up(&self) {
        let mut workers = self.0.borrow_mut();
        if workers.spare.as_ref().is_none_or(|e| !e.is_alive()) {
            // A refusal is told to whoever needs the worker.
            workers.spare = Engine::spawn().ok();
        }
    }
}
