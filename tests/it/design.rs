//! The design language keeps what `docs/design.md` promises: tokens agree with the palette, people with any kind of sight can
//! tell the hues apart, and everything is visible on its background, in both themes.

use neuronscope::view::palette::{GREY, HUES, Paint, SHADES, Theme, fill_var, hue, shade};
use palette::color_difference::Ciede2000;
use palette::white_point::D65;
use palette::{FromColor, Lab, LinSrgb};

/// Any two hues differ by more than this (CIEDE2000).
const LEAST_DIFFERENCE: f64 = 10.0;

/// What people see, as matrices of linear sRGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation
/// of Color Vision Deficiency", IEEE TVCG 15 (6), 2009, severity 1.0.
const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    ),
    (
        "deuteranopia",
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ),
    (
        "tritanopia",
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
    ),
];

fn linear(hex: &str) -> [f64; 3] {
    let channel = |i: usize| {
        let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("a hex colour")) / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { libm::pow((v + 0.055) / 1.055, 2.4) }
    };
    [channel(1), channel(3), channel(5)]
}

fn seen(hex: &str, sight: &[[f64; 3]; 3]) -> Lab<D65, f64> {
    let c = linear(hex);
    let row = |r: &[f64; 3]| (r[0] * c[0] + r[1] * c[1] + r[2] * c[2]).clamp(0.0, 1.0);
    Lab::from_color(LinSrgb::new(row(&sight[0]), row(&sight[1]), row(&sight[2])))
}

/// Contrast of WCAG 2.2.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |hex: &str| {
        let [r, g, b] = linear(hex);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn style() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/www/style.css")).expect("the style sheet")
}

/// The tokens of one rule, in which they are declared as `--name: value;`.
fn tokens(rule: &str) -> std::collections::BTreeMap<String, String> {
    let text = style();
    let from = text.find(rule).unwrap_or_else(|| panic!("no rule {rule}")) + rule.len();
    let body = &text[from..from + text[from..].find('}').expect("the end of the rule")];
    let token = |part: &str| {
        let (name, value) = part.rsplit_once("--")?.1.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    body.split(';').filter_map(token).collect()
}

const LIGHT: &str = ":root {";
const DARK: &str = ":root[data-theme=\"dark\"] {";

#[test]
fn the_difference_is_that_of_the_published_examples() {
    // Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula", 2005, table 1: pairs 1, 7 and 25.
    for (a, b, expected) in [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ] {
        let (a, b): (Lab<D65, f64>, Lab<D65, f64>) = (Lab::new(a.0, a.1, a.2), Lab::new(b.0, b.1, b.2));
        assert!((a.difference(b) - expected).abs() < 1e-4, "{}", a.difference(b));
    }
}

#[test]
fn hues_differ_for_every_kind_of_colour_vision() {
    for (sight, matrix) in &SIGHTS {
        for of in [|h: &neuronscope::view::palette::Hue| h.light, |h: &neuronscope::view::palette::Hue| h.dark] {
            for (i, a) in HUES.iter().enumerate() {
                for b in &HUES[i + 1..] {
                    let difference = seen(of(a), matrix).difference(seen(of(b), matrix));
                    assert!(difference > LEAST_DIFFERENCE, "{} and {}, {sight}: {difference:.2}", a.name, b.name);
                }
            }
        }
    }
}

#[test]
fn shades_of_a_hue_differ_and_stay_apart_from_those_of_other_hues() {
    let fills: Vec<u8> = (0..GREY).flat_map(|hue| (0..SHADES).map(move |n| shade(hue, n))).chain([GREY]).collect();
    for theme in [Theme::Light, Theme::Dark] {
        for (i, a) in fills.iter().enumerate() {
            for b in &fills[i + 1..] {
                let is_one_hue = hue(*a) == hue(*b);
                for (sight, matrix) in &SIGHTS {
                    let [x, y] = [a, b].map(|fill| seen(Paint::Fill(*fill).css(theme), matrix));
                    let least = match (*sight, is_one_hue) {
                        ("normal", true) => 6.0,
                        ("normal", false) => 10.0,
                        (_, true) => 0.0,
                        (_, false) => 4.0,
                    };
                    assert!(
                        x.difference(y) > least || (least == 0.0),
                        "{a} and {b}, {sight} {theme:?}: {:.2}",
                        x.difference(y)
                    );
                }
            }
        }
    }
}

#[test]
fn hues_are_seen_on_every_background_and_text_is_read_on_them() {
    for theme in [Theme::Light, Theme::Dark] {
        let page = tokens(if theme == Theme::Light { LIGHT } else { DARK });
        let canvas = [Paint::Background, Paint::RowAlternate].map(|p| p.css(theme).to_owned());
        let backgrounds: Vec<&String> = ["panel", "sunken"].iter().map(|n| &page[*n]).chain(&canvas).collect();
        for place in 0..(GREY + 1) * SHADES {
            let (fill, text) = (Paint::Fill(place).css(theme), Paint::OnFill(place).css(theme));
            let name = fill_var(place);
            for back in &backgrounds {
                assert!(contrast(fill, back) >= 3.0, "{name} on {back}: {:.2}", contrast(fill, back));
            }
            assert!(contrast(text, fill) >= 4.5, "text on {name} {theme:?}: {:.2}", contrast(text, fill));
        }
    }
}

#[test]
fn text_is_read_on_the_page_and_on_the_canvas() {
    for (rule, theme) in [(LIGHT, Theme::Light), (DARK, Theme::Dark)] {
        let page = tokens(rule);
        for back in ["page", "panel", "sunken"] {
            for text in ["text", "muted", "accent", "bad", "good"] {
                let found = contrast(&page[text], &page[back]);
                assert!(found >= 4.5, "--{text} on --{back} {theme:?}: {found:.2}");
            }
            assert!(contrast(&page["focus"], &page[back]) >= 3.0, "--focus on --{back} {theme:?}");
        }
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
fn text_is_read_on_the_deepest_shade_of_a_grid_of_values() {
    let text = style();
    let (_, part) = text.split_once("var(--bar) calc(var(--share, 0%) * ").expect("the shade of a cell");
    let part: f64 = part.split(')').next().unwrap().parse().unwrap();
    for rule in [LIGHT, DARK] {
        let tokens = tokens(rule);
        let channel = |hex: &str, i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
        let mixed =
            |i: usize| libm::round(part * channel(&tokens["bar"], i) + (1.0 - part) * channel(&tokens["panel"], i));
        let shade = format!("#{:02x}{:02x}{:02x}", mixed(1) as u8, mixed(3) as u8, mixed(5) as u8);
        assert!(contrast(&shade, &tokens["text"]) >= 4.5, "{rule}: {shade}");
    }
}

#[test]
fn the_style_sheet_has_the_hues_of_the_palette() {
    let (light, dark) = (tokens(LIGHT), tokens(DARK));
    for hue in &HUES {
        let (fill, text) = (format!("hue-{}", hue.name), format!("on-{}", hue.name));
        assert_eq!((light[&fill].as_str(), light[&text].as_str()), (hue.light, hue.on_light), "{}", hue.name);
        assert_eq!((dark[&fill].as_str(), dark[&text].as_str()), (hue.dark, hue.on_dark), "{}", hue.name);
        for (i, shade) in hue.shades.iter().enumerate().filter(|_| hue.name != "grey") {
            let name = format!("{fill}-{}", i + 1);
            assert_eq!((light[&name].as_str(), dark[&name].as_str()), (shade.light, shade.dark), "{name}");
        }
    }
}

#[test]
fn the_zoom_buttons_of_a_picture_are_not_where_notices_come() {
    let text = style();
    let rule = |selector: &str| {
        let from = text.find(&format!("\n{selector} {{")).unwrap_or_else(|| panic!("no rule {selector}"));
        text[from..].split('}').next().unwrap().to_owned()
    };
    assert!(rule(".notices").contains(" right: 14px; bottom: 14px;"), "notices come at the bottom right");
    let zoom = rule(".zoom");
    assert!(zoom.contains(" top: ") && !zoom.contains(" bottom: "), "{zoom}");
}

#[test]
fn every_token_that_is_used_is_declared() {
    let workspace = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/www/workspace.css"))
        .expect("the workspace's sheet");
    let (text, light) = (style() + &workspace, tokens(LIGHT));
    // Set by the page on single elements, or by a rule for the elements in it.
    let local = ["at", "content", "depth", "dock", "gutter", "row", "rows", "share", "tallest", "x", "y"];
    for used in text.split("var(--").skip(1) {
        let name = used.split([')', ',']).next().unwrap_or_default();
        let is_declared = light.contains_key(name) || workspace.contains(&format!("--{name}:"));
        assert!(is_declared || local.contains(&name), "--{name} is used and not declared");
    }
    let dark = tokens(DARK);
    assert!(dark.keys().all(|name| light.contains_key(name)), "a token of the dark theme only");
}
