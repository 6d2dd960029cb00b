//! Where a picture is in its window: the first view, and the whole of it.

/// Smallest and largest scale.
pub const SCALES: (f64, f64) = (0.02, 4.0);
/// Smallest scale of the first view: its text of 12 px can be read.
const READABLE: f64 = 0.8;
/// Room around the whole picture, on both sides together.
const AROUND_PX: f64 = 24.0;
/// Room above a picture that is taller than its window.
const ABOVE_PX: f64 = 8.0;

/// Position and scale of a picture in its window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// The left edge, from that of the window.
    pub x: f64,
    /// The top edge, from that of the window.
    pub y: f64,
    pub scale: f64,
}

/// Width and height.
pub type Size = (f64, f64);

/// Shows all of a picture, at most in its own size.
pub fn fit_all(window: Size, picture: Size) -> Place {
    let scale = scale_to(window.0, picture.0).min(scale_to(window.1, picture.1)).min(1.0);
    at_top(window, picture, scale)
}

/// The first view: all of the picture if its text can be read then; otherwise its top, as wide as the window if that can be read, and
/// at most in its own size.
pub fn first_view(window: Size, picture: Size) -> Place {
    let all = fit_all(window, picture);
    if all.scale >= READABLE {
        return all;
    }
    at_top(window, picture, scale_to(window.0, picture.0).clamp(READABLE, 1.0))
}

fn scale_to(window: f64, picture: f64) -> f64 {
    (window - AROUND_PX) / picture.max(1.0)
}

/// In the middle from left to right, and from top to bottom too if it is no taller than the window.
fn at_top(window: Size, picture: Size, scale: f64) -> Place {
    let scale = scale.clamp(SCALES.0, SCALES.1);
    let (width, height) = (picture.0 * scale, picture.1 * scale);
    let y = if height > window.1 { ABOVE_PX } else { (window.1 - height) / 2.0 };
    Place { x: (window.0 - width) / 2.0, y, scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Size = (1_700.0, 1_000.0);

    #[test]
    fn a_tall_narrow_picture_begins_at_its_top_in_its_own_size() {
        for window in [WIDE, (660.0, 660.0)] {
            let picture = (260.0, 9_000.0);
            let place = first_view(window, picture);
            assert_eq!(place, Place { x: (window.0 - picture.0) / 2.0, y: ABOVE_PX, scale: 1.0 });
            let all = fit_all(window, picture);
            assert!(all.scale * picture.1 <= window.1 - AROUND_PX + 1e-9 && all.y >= 0.0, "{all:?}");
        }
    }

    #[test]
    fn a_picture_that_fits_is_shown_whole_in_the_middle() {
        let small = first_view(WIDE, (300.0, 400.0));
        assert_eq!(small, Place { x: 700.0, y: 300.0, scale: 1.0 });
        let slightly_larger = (1_000.0, 1_150.0);
        assert_eq!(first_view(WIDE, slightly_larger), fit_all(WIDE, slightly_larger));
    }

    #[test]
    fn a_wide_picture_is_as_wide_as_its_window_if_it_can_be_read_then() {
        let place = first_view(WIDE, (2_000.0, 5_000.0));
        assert!((place.scale * 2_000.0 - (WIDE.0 - AROUND_PX)).abs() < 1e-9, "{place:?}");
        let phone = first_view((366.0, 470.0), (2_000.0, 5_000.0));
        assert_eq!((phone.scale, phone.y), (READABLE, ABOVE_PX));
        assert_eq!(phone.x, (366.0 - 2_000.0 * READABLE) / 2.0, "its middle is shown");
    }

    #[test]
    fn windows_and_pictures_without_size_give_usable_places() {
        for (window, picture) in [((0.0, 0.0), (100.0, 100.0)), (WIDE, (0.0, 0.0))] {
            for place in [fit_all(window, picture), first_view(window, picture)] {
                assert!(place.x.is_finite() && place.y.is_finite());
                assert!((SCALES.0..=1.0).contains(&place.scale), "{place:?}");
            }
        }
    }
}
