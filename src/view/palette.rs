//! The colours of everything that is painted: eight hues for things with a meaning, a grey for the rest, and the colours
//! around them, for light and for dark backgrounds. `docs/design.md` says what they are for; `www/style.css` has the
//! same values as tokens, and `tests/it/design.rs` checks how well they can be distinguished and seen.

use ns_base::convert::usize_to_u8;

/// A colour for areas, lines and marks, with the text that is read on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hue {
    /// Its name in tokens: `--hue-blue`, `--on-blue`.
    pub name: &'static str,
    /// The colour on a light background.
    pub light: &'static str,
    /// The colour of text on it there.
    pub on_light: &'static str,
    /// The colour on a dark background.
    pub dark: &'static str,
    /// The colour of text on it there.
    pub on_dark: &'static str,
    /// The colour in the theme of the page, as CSS.
    pub var: &'static str,
    /// Text on it, as CSS.
    pub on_var: &'static str,
    /// Its other shades, on which the same text is read: names of one kind differ a little.
    pub shades: [Shade; 3],
}

/// Another shade of a hue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shade {
    /// The colour on a light background.
    pub light: &'static str,
    /// The colour on a dark background.
    pub dark: &'static str,
    /// The colour in the theme of the page, as CSS.
    pub var: &'static str,
}

/// Shades of a hue, with the hue itself.
pub const SHADES: u8 = 4;

/// Dark text on a hue.
const INK: &str = "#10151c";
/// Light text on a hue.
const PAPER: &str = "#ffffff";

macro_rules! hue {
    ($name:literal, $light:literal $on_light:ident, $dark:literal $on_dark:ident, [$($n:literal $shade:literal $of_dark:literal),*]) => {
        Hue {
            name: $name,
            light: $light,
            on_light: $on_light,
            dark: $dark,
            on_dark: $on_dark,
            var: concat!("var(--hue-", $name, ")"),
            on_var: concat!("var(--on-", $name, ")"),
            shades: [$(Shade { light: $shade, dark: $of_dark, var: concat!("var(--hue-", $name, "-", $n, ")") }),*],
        }
    };
}

/// The hues, followed by the grey. They were found by a search under the conditions of `tests/it/design.rs`: any two differ by
/// more than 10 (CIEDE2000) for people with normal sight and for those who lack one kind of cone, each has a contrast of 3
/// with every background it is used on, and text on it has a contrast of 4.5. The shades were found in the same way: two of one hue
/// differ by more than 6, two of different hues by more than 10 for normal sight and by more than 4 for the others. Grey has one.
pub const HUES: [Hue; 9] = [
    hue!("blue", "#6682c9" INK, "#5a89f1" INK, [1 "#468ce1" "#5d6fff", 2 "#747ca8" "#429dfc", 3 "#828dc5" "#7e89ca"]),
    hue!("orange", "#944c07" PAPER, "#e0680f" INK, [1 "#613500" "#ed8e2d", 2 "#782a00" "#ef5527", 3 "#a1630a" "#bb6f22"]),
    hue!("teal", "#157671" PAPER, "#54bf9d" INK, [1 "#145147" "#53edbf", 2 "#226065" "#a2ddca", 3 "#4e7c7d" "#0e9f8e"]),
    hue!("pink", "#cd347c" PAPER, "#e786ba" INK, [1 "#92295e" "#d062ba", 2 "#bf058c" "#d24f88", 3 "#b91864" "#f8bcdd"]),
    hue!("yellow", "#9d8011" INK, "#f1bb1f" INK, [1 "#9e9200" "#f9e683", 2 "#a68b5b" "#fede02", 3 "#928c48" "#fbcf8d"]),
    hue!("violet", "#7a4bc6" PAPER, "#b6abf5" INK, [1 "#5b05c4" "#dacffc", 2 "#5d3083" "#bec5fd", 3 "#633ae4" "#beaed9"]),
    hue!("green", "#5d7849" PAPER, "#8bb468" INK, [1 "#545c3f" "#7f9045", 2 "#325827" "#419642", 3 "#50662c" "#bfcc9b"]),
    hue!("red", "#d27578" INK, "#ad7867" INK, [1 "#a87369" "#b69887", 2 "#b47c87" "#997773", 3 "#b96766" "#d59b94"]),
    hue!("grey", "#87919e" INK, "#74808f" INK, [1 "#87919e" "#74808f", 2 "#87919e" "#74808f", 3 "#87919e" "#74808f"]),
];

/// The place of the grey in [`HUES`]: others, wrappers, modules, idle time.
pub const GREY: u8 = 8;

/// The hue at a place; places beyond the last are its shades.
pub const fn hue(fill: u8) -> &'static Hue {
    &HUES[fill as usize % HUES.len()]
}

/// The place of a shade of a hue; shade 0 is the hue itself.
pub const fn shade(fill: u8, shade: u8) -> u8 {
    fill % (GREY + 1) + (shade % SHADES) * (GREY + 1)
}

/// The shade at a place, if it is not a hue itself.
fn shade_at(fill: u8) -> Option<&'static Shade> {
    let number = (fill / (GREY + 1)) % SHADES;
    number.checked_sub(1).map(|i| &hue(fill).shades[usize::from(i)])
}

/// The colour of a place in the theme of the page, as CSS.
pub fn fill_var(fill: u8) -> &'static str {
    shade_at(fill).map_or(hue(fill).var, |shade| shade.var)
}

/// Text on [`fill_var`].
pub const fn on_fill_var(fill: u8) -> &'static str {
    hue(fill).on_var
}

/// Places in [`HUES`] for names that are shown together and have no meaning elsewhere, such as series of a plot: in their order,
/// with the same place for equal names, without the grey.
pub fn distinct_fills<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut known: Vec<&str> = Vec::new();
    names
        .map(|name| {
            let place = known.iter().position(|n| *n == name).unwrap_or_else(|| {
                known.push(name);
                known.len() - 1
            });
            distinct_fill(place)
        })
        .collect()
}

/// Place in [`HUES`] for the name at a position: the hues in their order, then their shades.
pub fn distinct_fill(position: usize) -> u8 {
    let hues = usize::from(GREY);
    shade(usize_to_u8(position % hues), usize_to_u8(position / hues % usize::from(SHADES)))
}

/// A background of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

/// The role of a shape, from which the theme derives its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Paint {
    /// The background of everything.
    Background,
    /// The background of every other row.
    RowAlternate,
    SectionBar,
    /// The column of names at the left.
    Gutter,
    /// Lines of the ruler through the tracks, and between columns.
    Grid,
    Text,
    /// Text that matters less.
    MutedText,
    /// Text on a slice, by place in [`HUES`].
    OnFill(u8),
    /// A slice, by place in [`HUES`], or of one of its shades ([`shade`]).
    Fill(u8),
    /// A slice that a search did not find.
    Dimmed,
    /// Text on a dimmed slice.
    OnDimmed,
    /// The outline of a selected or found item.
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
    pub fn css(self, theme: Theme) -> &'static str {
        let (light, dark) = match self {
            Self::Background => ("#ffffff", "#12161c"),
            Self::RowAlternate => ("#f7f9fb", "#171c24"),
            Self::SectionBar => ("#dfe5ec", "#242c37"),
            Self::Gutter => ("#f7f9fb", "#161b22"),
            Self::Grid => ("#d5dce4", "#2a333f"),
            Self::Text => ("#18202a", "#e4e9ef"),
            Self::MutedText => ("#52606f", "#a3b0bf"),
            Self::OnFill(i) => (hue(i).on_light, hue(i).on_dark),
            Self::Fill(i) => shade_at(i).map_or((hue(i).light, hue(i).dark), |shade| (shade.light, shade.dark)),
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

    /// The colour in a theme as red, green, blue and opacity; black for the translucent one.
    pub fn rgba(self, theme: Theme) -> [u8; 4] {
        let hex = self.css(theme);
        let channel = |i: usize| hex.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
        [channel(1), channel(3), channel(5), u8::MAX]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_shown_together_differ_as_long_as_there_are_hues() {
        let names: Vec<String> = (0..8).map(|i| format!("op{i}")).collect();
        let mut fills = distinct_fills(names.iter().map(String::as_str));
        fills.sort_unstable();
        fills.dedup();
        assert_eq!((fills.len(), fills.contains(&GREY)), (8, false));
        assert_eq!(distinct_fills(["a", "b", "a"].into_iter()), [0, 1, 0]);
        assert!(distinct_fills((0..20).map(|_| "x")).iter().all(|f| *f == 0));
    }

    #[test]
    fn colours_are_hex_for_canvases_and_names_of_tokens_for_the_page() {
        assert_eq!(Paint::Fill(0).rgba(Theme::Light), [0x66, 0x82, 0xc9, 255]);
        assert_eq!((fill_var(GREY), on_fill_var(0)), ("var(--hue-grey)", "var(--on-blue)"));
        assert_eq!(hue(GREY).name, "grey");
    }
}
