//! Figures made of page elements, painted on a canvas: backgrounds, lines, words and drawings at the places where the browser put
//! them. Bars, heat maps, areas and flame graphs are figures of this kind.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, DomRect, Element, Node};

use super::picture::image_of;
use ns_base::convert::usize_to_u32;

/// Parts of a figure that do not belong to its picture.
const LEFT_OUT: &str = "figcaption, figcaption *, details, details *, .readout, .help, .visually-hidden, svg *";

/// The rectangle around all parts of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Left edge, in pixels of the window.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge, including parts that are scrolled out of sight.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

/// The visible parts of a figure, from back to front.
fn parts(figure: &Element) -> Result<Vec<(Element, DomRect)>, JsValue> {
    let found = figure.query_selector_all("*")?;
    let elements = (0..found.length()).filter_map(|i| found.get(i)?.dyn_into::<Element>().ok());
    let seen = elements.filter(|part| !part.matches(LEFT_OUT).unwrap_or(false)).map(|part| {
        let rect = part.get_bounding_client_rect();
        (part, rect)
    });
    Ok(seen.filter(|(_, rect)| rect.width() > 0.0 && rect.height() > 0.0).collect())
}

/// The rectangle that a picture of a figure has to hold.
pub fn area(figure: &Element) -> Result<Area, JsValue> {
    let none = Area { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };
    let around = |area: Area, (_, rect): &(Element, DomRect)| Area {
        left: area.left.min(rect.left()),
        top: area.top.min(rect.top()),
        right: area.right.max(rect.right()),
        bottom: area.bottom.max(rect.bottom()),
    };
    let all = parts(figure)?.iter().fold(none, around);
    if all.right > all.left { Ok(all) } else { Err("no part of it is visible".into()) }
}

/// Paints a figure; the canvas is translated so that positions in the window can be used as they are.
pub async fn paint(context: &CanvasRenderingContext2d, figure: &Element) -> Result<(), JsValue> {
    for (part, rect) in parts(figure)? {
        if part.local_name() == "svg" {
            let (width, height) = (rect.width(), rect.height());
            let image = image_of(&part, width, height).await?;
            context.draw_image_with_html_image_element_and_dw_and_dh(&image, rect.x(), rect.y(), width, height)?;
            continue;
        }
        let window = web_sys::window().ok_or("there is no window")?;
        let style = window.get_computed_style(&part)?.ok_or("an element has no style")?;
        context.set_fill_style_str(&style.get_property_value("background-color")?);
        context.fill_rect(rect.x(), rect.y(), rect.width(), rect.height());
        if style.get_property_value("border-left-width")? != "0px" {
            context.set_stroke_style_str(&style.get_property_value("border-left-color")?);
            context.stroke_rect(rect.x(), rect.y(), rect.width(), rect.height());
        }
        draw_words(context, &part, &rect, &style)?;
    }
    Ok(())
}

/// The words directly in a part, cut at its edge.
fn draw_words(
    context: &CanvasRenderingContext2d,
    part: &Element,
    rect: &DomRect,
    style: &CssStyleDeclaration,
) -> Result<(), JsValue> {
    let nodes = part.child_nodes();
    let texts = (0..nodes.length()).filter_map(|i| nodes.get(i)).filter(|node| node.node_type() == Node::TEXT_NODE);
    let document = web_sys::window().and_then(|w| w.document()).ok_or("there is no document")?;
    for node in texts {
        let font = |name: &str| style.get_property_value(name);
        context.save();
        context.set_font(&format!("{} {} {}", font("font-weight")?, font("font-size")?, font("font-family")?));
        context.set_fill_style_str(&style.get_property_value("color")?);
        context.set_text_baseline("middle");
        context.begin_path();
        context.rect(rect.x(), rect.y(), rect.width(), rect.height());
        context.clip();
        let mut from = 0;
        for word in node.node_value().unwrap_or_default().split_inclusive(char::is_whitespace) {
            let to = from + usize_to_u32(word.encode_utf16().count());
            let range = document.create_range()?;
            range.set_start(&node, from)?;
            range.set_end(&node, to)?;
            let place = range.get_bounding_client_rect();
            if place.width() > 0.0 {
                context.fill_text(word.trim_end(), place.x(), place.y() + place.height() / 2.0)?;
            }
            from = to;
        }
        context.restore();
    }
    Ok(())
}
