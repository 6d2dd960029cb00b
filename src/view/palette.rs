//! Colours: one for each name, the same in every view and on every visit.

use crate::base::digest64;

/// Paul Tol's "light" scheme (SRON/EPS/TN/09-002, issue 3.2, figure 6), made for filled areas that carry black text and to
/// stay apart for people with colour vision deficiencies (the yellow a little darker than his, for white backgrounds), and
/// four more of the same lightness, so that fewer names share one.
pub const FILLS: [&str; 12] = [
    "#77aadd", "#ee8866", "#e3c95f", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00", "#b79ddb", "#d39b62",
    "#e58bb8", "#9fb4c7",
];

/// Text on any of [`FILLS`].
pub const ON_FILL: &str = "#10151c";

/// The place in [`FILLS`] that belongs to a name.
#[must_use]
pub fn fill_of(name: &str) -> u8 {
    (digest64(name) % FILLS.len() as u64) as u8
}

/// Places in [`FILLS`] for names shown together, as different as the palette allows: each name gets its own colour, or,
/// where that is taken, the next free one.
#[must_use]
pub fn distinct_fills<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let n = FILLS.len() as u8;
    let mut used = 0_u32;
    names
        .map(|name| {
            if used == (1 << n) - 1 {
                used = 0;
            }
            let own = fill_of(name);
            let free = (0..n).map(|i| (own + i) % n).find(|i| used & (1 << i) == 0).unwrap_or(own);
            used |= 1 << free;
            free
        })
        .collect()
}

/// A background the page has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

/// What a shape is, from which the theme gives its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paint {
    /// Behind everything.
    Background,
    /// Behind every other row.
    RowAlternate,
    /// The bar of a section.
    SectionBar,
    /// The column of names at the left.
    Gutter,
    /// Lines of the ruler through the tracks, and between columns.
    Grid,
    /// Text.
    Text,
    /// Text that matters less.
    MutedText,
    /// Text on a slice.
    OnFill,
    /// A slice, by place in [`FILLS`].
    Fill(u8),
    /// A slice that a search did not find.
    Dimmed,
    /// Text on a dimmed slice.
    OnDimmed,
    /// Around what is selected or found.
    Accent,
    /// Text on [`Paint::Accent`].
    OnAccent,
    /// Over a range being dragged.
    Range,
    /// An area under a counter.
    Counter,
}

impl Paint {
    /// The colour in a theme, as CSS.
    #[must_use]
    pub fn css(self, theme: Theme) -> &'static str {
        let (light, dark) = match self {
            Self::Background => ("#ffffff", "#12161c"),
            Self::RowAlternate => ("#f3f5f8", "#171c24"),
            Self::SectionBar => ("#dfe5ec", "#242c37"),
            Self::Gutter => ("#f7f9fb", "#161b22"),
            Self::Grid => ("#d5dce4", "#2a333f"),
            Self::Text => ("#18202a", "#e4e9ef"),
            Self::MutedText => ("#52606f", "#a3b0bf"),
            Self::OnFill => (ON_FILL, ON_FILL),
            Self::Fill(i) => {
                let fill = FILLS[usize::from(i) % FILLS.len()];
                (fill, fill)
            }
            Self::Dimmed => ("#dbe0e6", "#2b333d"),
            Self::OnDimmed => ("#52606f", "#a3b0bf"),
            Self::Accent => ("#b3261e", "#ffd166"),
            Self::OnAccent => ("#ffffff", "#10151c"),
            Self::Range => ("rgba(20,90,180,0.18)", "rgba(120,180,255,0.22)"),
            Self::Counter => ("#5b8fc7", "#6aa1dd"),
        };
        match theme {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }

    /// The colour in a theme as red, green, blue and opacity; black for the one that lets something through.
    #[must_use]
    pub fn rgba(self, theme: Theme) -> [u8; 4] {
        let hex = self.css(theme);
        let channel = |i: usize| hex.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
        [channel(1), channel(3), channel(5), u8::MAX]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of WCAG 2.2.
    fn luminance(hex: &str) -> f64 {
        let channel = |i: usize| {
            let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("a hex colour")) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { libm::pow((v + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_readable_on_everything_it_stands_on() {
        for fill in FILLS {
            assert!(contrast(ON_FILL, fill) >= 7.0, "{fill}");
        }
        for theme in [Theme::Light, Theme::Dark] {
            for back in [Paint::Background, Paint::RowAlternate, Paint::SectionBar, Paint::Gutter] {
                for text in [Paint::Text, Paint::MutedText] {
                    assert!(contrast(text.css(theme), back.css(theme)) >= 4.5, "{text:?} on {back:?} {theme:?}");
                }
            }
            assert!(contrast(Paint::OnDimmed.css(theme), Paint::Dimmed.css(theme)) >= 4.5);
            assert!(contrast(Paint::Accent.css(theme), Paint::Background.css(theme)) >= 3.0);
            assert!(contrast(Paint::OnAccent.css(theme), Paint::Accent.css(theme)) >= 4.5);
        }
    }

    #[test]
    fn names_shown_together_differ_as_long_as_there_are_colours() {
        let names: Vec<String> = (0..12).map(|i| format!("op{i}")).collect();
        let mut fills = distinct_fills(names.iter().map(String::as_str));
        assert_eq!(fills[0], fill_of("op0"), "the first keeps its own");
        fills.sort_unstable();
        fills.dedup();
        assert_eq!(fills.len(), 12);
        assert_eq!(distinct_fills((0..20).map(|_| "x")).len(), 20);
    }
}
