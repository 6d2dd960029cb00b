//! The timeline on the screen as a picture to save.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use web_sys::HtmlCanvasElement;

use super::Controller;
use super::controller::ControllerInner;
use ns_view::timeline::to_svg;

thread_local! {
    /// The timeline that was laid out last; at most one is on the screen.
    static VISIBLE: RefCell<Weak<ControllerInner>> = const { RefCell::new(Weak::new()) };
}

impl Controller {
    /// Makes this the timeline that pictures are taken of.
    pub(super) fn set_on_screen(&self) {
        VISIBLE.with(|visible| *visible.borrow_mut() = Rc::downgrade(&self.0));
    }

    /// The timeline on the screen, if there is one.
    pub fn on_screen() -> Option<Self> {
        VISIBLE.with(|visible| visible.borrow().upgrade()).map(Self)
    }

    /// The content of the screen as SVG.
    pub fn svg(&self) -> String {
        let screen = self.0.screen.borrow();
        to_svg(&screen.picture(&self.0.info.outline), screen.theme)
    }

    /// The canvas, painted with all its texts.
    pub fn painted(&self) -> Option<HtmlCanvasElement> {
        let screen = self.0.screen.borrow();
        screen.draw(&self.0.info.outline, f64::INFINITY);
        screen.canvas.as_ref().map(|(canvas, _)| canvas.clone())
    }
}
