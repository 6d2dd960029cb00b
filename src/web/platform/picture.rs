//! Charts and canvases as PNG pictures in the clipboard, or as files if the clipboard takes no pictures.

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlImageElement, Url, XmlSerializer};

use super::{boxes, clipboard, download, error_text};

use ns_base::convert::{f64_to_u64, u64_to_u32, usize_to_f64};

/// Pixels of a picture for each pixel of the page, so that an enlarged picture is sharp.
const SCALE: f64 = 2.0;
/// Room around a chart, in pixels of the page.
const MARGIN: f64 = 16.0;
/// Height of a line of text.
const LINE: f64 = 20.0;
/// How long the clipboard may take for a picture, which it reads and writes anew.
const PICTURE_MS: u32 = 10_000;
const FONT: &str = "13px system-ui, sans-serif";
const TITLE_FONT: &str = "600 15px system-ui, sans-serif";

/// Properties of a shape from the style sheet, which a stand-alone picture must contain.
const STYLES: [&str; 13] = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-opacity",
    "opacity",
    "font-size",
    "font-family",
    "font-weight",
    "text-anchor",
    "dominant-baseline",
    "visibility",
];

/// A chart on the screen: a figure with a drawing and perhaps a legend, or a figure made of boxes.
#[derive(Clone, PartialEq)]
pub struct Chart {
    pub title: String,
    figure: Element,
}

/// Callback for the message when a picture was copied or saved.
type PictureResult = Result<&'static str, String>;

/// The charts of the shown page, from top to bottom.
pub fn charts() -> Vec<Chart> {
    let found = super::page::element("main").and_then(|main| main.query_selector_all("figure").ok());
    let Some(found) = found else { return Vec::new() };
    let figures = (0..found.length()).filter_map(|i| found.get(i)?.dyn_into::<Element>().ok());
    let chart = |figure: Element| {
        // A note after the title is not part of it.
        let title = figure.query_selector("figcaption").ok().flatten()?.first_child()?.text_content()?;
        boxes::area(&figure).ok()?;
        Some(Chart { title, figure })
    };
    figures.filter_map(chart).collect()
}

/// Copies a chart with its title and its legend.
pub fn copy_chart(chart: &Chart, done: impl FnOnce(PictureResult) + 'static) {
    let chart = chart.clone();
    spawn_local(async move {
        match draw(&chart).await {
            Ok(canvas) => copy_canvas(&chart.title, &canvas, done),
            Err(e) => done(Err(format!("{}: the picture could not be made: {}", chart.title, error_text(&e)))),
        }
    });
}

/// Copies the content of a canvas.
pub fn copy_canvas(title: &str, canvas: &HtmlCanvasElement, done: impl FnOnce(PictureResult) + 'static) {
    let title = title.to_owned();
    let on_blob = Closure::once_into_js(move |blob: Option<Blob>| {
        let Some(blob) = blob else { return done(Err(format!("{title}: the browser made no picture"))) };
        spawn_local(async move {
            match to_clipboard(&blob).await {
                Ok(()) => done(Ok("The picture is in the clipboard.")),
                Err(_) => {
                    let saved = download::save_blob(&format!("{}.png", file_stem(&title)), &blob);
                    done(saved.map(
                        |()| "This browser\u{2019}s clipboard takes no pictures, so the picture was saved as a file.",
                    ));
                }
            }
        });
    });
    // It fails on canvases with pictures of other sites only; these have none.
    let _ = canvas.to_blob(on_blob.unchecked_ref());
}

/// A title as the name of a file.
fn file_stem(title: &str) -> String {
    title.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

async fn to_clipboard(blob: &Blob) -> Result<(), JsValue> {
    let window = web_sys::window().filter(web_sys::Window::is_secure_context).ok_or("the address is not secure")?;
    let constructor = Reflect::get(&window, &"ClipboardItem".into())?.dyn_into::<Function>()?;
    let content = Object::new();
    Reflect::set(&content, &"image/png".into(), blob)?;
    let item = Reflect::construct(&constructor, &Array::of1(&content))?;
    let receiver = window.navigator().clipboard();
    let write = Reflect::get(&receiver, &"write".into())?.dyn_into::<Function>()?;
    let written = write.call1(&receiver, &Array::of1(&item))?.dyn_into::<Promise>()?;
    clipboard::answer(written, PICTURE_MS).await.map(drop)
}

/// A canvas and the callback that draws on it.
fn canvas() -> Result<(HtmlCanvasElement, CanvasRenderingContext2d), JsValue> {
    let document = web_sys::window().and_then(|w| w.document()).ok_or("there is no document")?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.unchecked_into();
    let context = canvas.get_context("2d")?.ok_or("the browser draws no canvas")?.unchecked_into();
    Ok((canvas, context))
}

/// Gives a canvas its size, its background and its title; returns the colour of texts.
fn begin(
    (canvas, context): (&HtmlCanvasElement, &CanvasRenderingContext2d),
    title: &str,
    (width, height): (f64, f64),
) -> Result<String, JsValue> {
    canvas.set_width(u64_to_u32(f64_to_u64(width * SCALE)));
    canvas.set_height(u64_to_u32(f64_to_u64(height * SCALE)));
    context.scale(SCALE, SCALE)?;
    context.set_fill_style_str(&style_of_root("--panel"));
    context.fill_rect(0.0, 0.0, width, height);
    let text = style_of_root("--text");
    context.set_fill_style_str(&text);
    context.set_font(TITLE_FONT);
    context.fill_text(title, MARGIN, MARGIN + 12.0)?;
    Ok(text)
}

/// A chart on its own canvas, under its title.
async fn draw(chart: &Chart) -> Result<HtmlCanvasElement, JsValue> {
    let drawings = chart.figure.query_selector_all("svg[role=img]")?;
    match drawings.get(0).filter(|_| drawings.length() == 1) {
        Some(drawing) => draw_svg(chart, drawing.unchecked_ref()).await,
        None => draw_boxes(chart).await,
    }
}

/// A chart made of boxes.
async fn draw_boxes(chart: &Chart) -> Result<HtmlCanvasElement, JsValue> {
    let (canvas, context) = canvas()?;
    let area = boxes::area(&chart.figure)?;
    let top = MARGIN + LINE + MARGIN * 0.5;
    let size = ((area.right - area.left).max(320.0) + 2.0 * MARGIN, top + area.bottom - area.top + MARGIN);
    begin((&canvas, &context), &chart.title, size)?;
    context.translate(MARGIN - area.left, top - area.top)?;
    boxes::paint(&context, &chart.figure).await?;
    Ok(canvas)
}

/// A drawing, and the legend below it.
async fn draw_svg(chart: &Chart, svg: &Element) -> Result<HtmlCanvasElement, JsValue> {
    let area = svg.get_bounding_client_rect();
    let image = image_of(svg, area.width(), area.height()).await?;
    let legend = legend_of(&chart.figure)?;
    let (canvas, context) = canvas()?;
    let width = area.width().max(320.0) + 2.0 * MARGIN;
    context.set_font(FONT);
    let rows = rows_of(&legend, &context, width)?;
    let height = LINE + area.height() + 2.5 * MARGIN + usize_to_f64(rows.len()) * LINE;
    let text = begin((&canvas, &context), &chart.title, (width, height))?;
    let top = MARGIN + LINE;
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, MARGIN, top, area.width(), area.height())?;
    context.set_font(FONT);
    for (i, row) in rows.iter().enumerate() {
        let y = top + area.height() + MARGIN * 0.5 + (usize_to_f64(i) + 0.5) * LINE;
        for (x, part) in row {
            context.set_fill_style_str(&part.colour);
            context.fill_rect(*x, y - 5.0, 10.0, 10.0);
            context.set_fill_style_str(&text);
            context.fill_text(&part.text, x + 16.0, y + 4.0)?;
        }
    }
    Ok(canvas)
}

/// A drawing with the style sheet's values in it, as a picture that has been decoded.
pub(super) async fn image_of(svg: &Element, width: f64, height: f64) -> Result<HtmlImageElement, JsValue> {
    let copy: Element = svg.clone_node_with_deep(true)?.unchecked_into();
    let (from, to) = (svg.query_selector_all("*")?, copy.query_selector_all("*")?);
    for i in 0..from.length().min(to.length()) {
        if let (Some(from), Some(to)) = (from.get(i), to.get(i)) {
            keep_style(from.unchecked_ref(), to.unchecked_ref())?;
        }
    }
    copy.set_attribute("xmlns", "http://www.w3.org/2000/svg")?;
    copy.set_attribute("width", &width.to_string())?;
    copy.set_attribute("height", &height.to_string())?;
    let text = XmlSerializer::new()?.serialize_to_string(&copy)?;
    let blob = download::blob("image/svg+xml", text.as_bytes())?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let image = HtmlImageElement::new()?;
    image.set_src(&url);
    let decoded = JsFuture::from(image.decode()).await;
    Url::revoke_object_url(&url)?;
    decoded.map(|_| image)
}

fn keep_style(from: &Element, to: &Element) -> Result<(), JsValue> {
    let style = web_sys::window().ok_or("there is no window")?.get_computed_style(from)?.ok_or("it has no style")?;
    let mut text = String::new();
    for name in STYLES {
        let value = style.get_property_value(name)?;
        if !value.is_empty() {
            text.push_str(name);
            text.push(':');
            text.push_str(&value);
            text.push(';');
        }
    }
    to.set_attribute("style", &text)
}

/// An entry of a legend.
#[derive(Clone)]
struct Part {
    colour: String,
    text: String,
}

fn legend_of(figure: &Element) -> Result<Vec<Part>, JsValue> {
    let items = figure.query_selector_all(".legend li")?;
    let window = web_sys::window().ok_or("there is no window")?;
    let mut parts = Vec::new();
    for item in (0..items.length()).filter_map(|i| items.get(i)).filter_map(|item| item.dyn_into::<Element>().ok()) {
        let text = item.text_content().unwrap_or_default();
        // A line has its colour as its stroke, an area as its background.
        let mark = item.query_selector(".swatch line, .swatch path")?;
        let (mark, property) = match mark {
            Some(line) => (Some(line), "stroke"),
            None => (item.query_selector(".swatch")?, "background-color"),
        };
        let Some(mark) = mark else { continue };
        let colour = window.get_computed_style(&mark)?.ok_or("it has no style")?.get_property_value(property)?;
        parts.push(Part { colour, text });
    }
    Ok(parts)
}

/// The entries of a legend in rows of a width, each with its place.
fn rows_of(parts: &[Part], context: &CanvasRenderingContext2d, width: f64) -> Result<Vec<Vec<(f64, Part)>>, JsValue> {
    let mut rows: Vec<Vec<(f64, Part)>> = Vec::new();
    let mut x = f64::INFINITY;
    for part in parts {
        let wide = 32.0 + context.measure_text(&part.text)?.width();
        if x + wide > width - MARGIN {
            rows.push(Vec::new());
            x = MARGIN;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, part.clone()));
        }
        x += wide;
    }
    Ok(rows)
}

/// The value of a token of the style sheet, in the shown theme.
fn style_of_root(name: &str) -> String {
    let window = web_sys::window();
    let root = window.as_ref().and_then(|w| w.document()).and_then(|d| d.document_element());
    let style = window.zip(root).and_then(|(w, root)| w.get_computed_style(&root).ok().flatten());
    style.and_then(|s| s.get_property_value(name).ok()).map(|v| v.trim().to_owned()).unwrap_or_default()
}
