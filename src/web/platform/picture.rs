//! Charts and canvases as PNG pictures in the clipboard, or as files if the clipboard takes no pictures.

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlImageElement, Url, XmlSerializer};

use super::{boxes, clipboard, download, error_text};

use ns_base::convert::{f64_to_u64, u64_to_u32, usize_to_f64};
use ns_view::svg::{escape, number};

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
const FOOT_FONT: &str = "12px system-ui, sans-serif";
/// A narrow chart has a picture of this width, for its title.
const LEAST_WIDTH: f64 = 320.0;
/// Room for a sample of the legend.
const SWATCH: f64 = 18.0;

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

impl Chart {
    /// Its drawing, if it has one and nothing else.
    fn drawing(&self) -> Option<Element> {
        let drawings = self.figure.query_selector_all("svg[role=img]").ok()?;
        drawings.get(0).filter(|_| drawings.length() == 1)?.dyn_into().ok()
    }

    /// Whether it can be saved as SVG.
    pub fn is_drawing(&self) -> bool {
        self.drawing().is_some()
    }
}

/// Callback for the message when a picture was copied or saved.
pub type PictureResult = Result<&'static str, String>;

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

/// What stands below a chart in its picture: what it is of, when and where it was made. A line may be a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureFoot {
    /// What the charts are of; it stands before the title.
    pub subject: String,
    /// Who made it, and when.
    pub origin: String,
    /// Where the same is shown.
    pub address: String,
}

impl PictureFoot {
    fn title(&self, chart: &str) -> String {
        let is_said = self.subject.is_empty() || chart.contains(&self.subject);
        if is_said { chart.to_owned() } else { format!("{}: {chart}", self.subject) }
    }
}

/// Copies a chart with its title, its legend and its foot.
pub fn copy_chart(chart: &Chart, foot: PictureFoot, done: impl FnOnce(PictureResult) + 'static) {
    let chart = chart.clone();
    spawn_local(async move {
        match draw(&chart, &foot).await {
            Ok(canvas) => copy_canvas(&foot.title(&chart.title), &canvas, done),
            Err(e) => done(Err(failure(&chart, &e))),
        }
    });
}

/// Saves a chart that is one drawing as SVG, with its title, its legend and its foot.
pub fn save_svg(chart: &Chart, foot: &PictureFoot) -> PictureResult {
    let title = foot.title(&chart.title);
    let drawing = chart.drawing().ok_or_else(|| format!("{title}: it is not a drawing"))?;
    let picture = svg_of(chart, &drawing, foot).map_err(|e| failure(chart, &e))?;
    download::save(&format!("{}.svg", file_stem(&title)), "image/svg+xml", picture.svg.as_bytes())?;
    Ok("The picture was saved.")
}

fn failure(chart: &Chart, error: &JsValue) -> String {
    format!("{}: the picture could not be made: {}", chart.title, error_text(error))
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

/// Gives a canvas its size and its background.
fn begin((canvas, context): (&HtmlCanvasElement, &CanvasRenderingContext2d), size: Place) -> Result<(), JsValue> {
    canvas.set_width(u64_to_u32(f64_to_u64(size.0 * SCALE)));
    canvas.set_height(u64_to_u32(f64_to_u64(size.1 * SCALE)));
    context.scale(SCALE, SCALE)?;
    context.set_fill_style_str(&style_of_root("--panel"));
    context.fill_rect(0.0, 0.0, size.0, size.1);
    Ok(())
}

/// A chart on its own canvas, under its title.
async fn draw(chart: &Chart, foot: &PictureFoot) -> Result<HtmlCanvasElement, JsValue> {
    let Some(drawing) = chart.drawing() else { return draw_boxes(chart, foot).await };
    let picture = svg_of(chart, &drawing, foot)?;
    let (canvas, context) = canvas()?;
    let (width, height) = picture.size;
    begin((&canvas, &context), picture.size)?;
    let image = image_of_text(&picture.svg).await?;
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    Ok(canvas)
}

/// A chart made of boxes, between its title and its foot.
async fn draw_boxes(chart: &Chart, foot: &PictureFoot) -> Result<HtmlCanvasElement, JsValue> {
    let (canvas, context) = canvas()?;
    let area = boxes::area(&chart.figure)?;
    let width = (area.right - area.left).max(LEAST_WIDTH) + 2.0 * MARGIN;
    let (title, foot) = texts(chart, foot, &context, width)?;
    let top = title.height + MARGIN * 0.5;
    let below = top + area.bottom - area.top;
    let size = (width, below + foot.height);
    begin((&canvas, &context), size)?;
    let frame = format!("{}{}", title.svg, moved(&foot.svg, below));
    let image = image_of_text(&document(&frame, size)).await?;
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, size.0, size.1)?;
    context.translate(MARGIN - area.left, top - area.top)?;
    boxes::paint(&context, &chart.figure).await?;
    Ok(canvas)
}

/// A place or a size, in pixels of the page.
type Place = (f64, f64);

/// A picture that stands alone.
struct Picture {
    svg: String,
    size: Place,
}

/// A part of a picture that begins at its top.
struct Part {
    svg: String,
    height: f64,
}

/// The drawing of a chart between its title, its legend and its foot.
fn svg_of(chart: &Chart, drawing: &Element, foot: &PictureFoot) -> Result<Picture, JsValue> {
    let area = drawing.get_bounding_client_rect();
    let (_, context) = canvas()?;
    let width = area.width().max(LEAST_WIDTH) + 2.0 * MARGIN;
    let (title, foot) = texts(chart, foot, &context, width)?;
    let legend = legend(&chart.figure, &context, width)?;
    let top = title.height + MARGIN * 0.5;
    let inside = svg_text(drawing, (MARGIN, top), (area.width(), area.height()))?;
    let (legend_top, foot_top) = (top + area.height() + MARGIN * 0.5, top + area.height() + legend.height + MARGIN);
    let size = (width, foot_top + foot.height);
    let (legend, foot) = (moved(&legend.svg, legend_top), moved(&foot.svg, foot_top));
    let panel = style_of_root("--panel");
    let ground = format!("<rect width=\"100%\" height=\"100%\" fill=\"{panel}\"/>");
    Ok(Picture { svg: document(&format!("{ground}{}{inside}{legend}{foot}", title.svg), size), size })
}

fn document(content: &str, (width, height): Place) -> String {
    let (width, height) = (number(width), number(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\">{content}</svg>"
    )
}

fn moved(svg: &str, y: f64) -> String {
    format!("<g transform=\"translate(0 {})\">{svg}</g>", number(y))
}

/// The title and the foot of a picture of a width.
fn texts(
    chart: &Chart,
    foot: &PictureFoot,
    context: &CanvasRenderingContext2d,
    width: f64,
) -> Result<(Part, Part), JsValue> {
    let room = width - 2.0 * MARGIN;
    context.set_font(TITLE_FONT);
    let title = lines_of(&foot.title(&chart.title), context, room)?;
    let height = MARGIN + usize_to_f64(title.len()) * LINE;
    let title = written(&title, MARGIN + 12.0, "font-size=\"15\" font-weight=\"600\"", &style_of_root("--text"));
    context.set_font(FOOT_FONT);
    let origin = lines_of(&foot.origin, context, room)?;
    // A long address is cut: it can be read as far as the page that it leads to, and pressed where the picture allows it.
    let address = cut(&foot.address, context, room)?;
    let muted = style_of_root("--muted");
    let address_at = 8.0 + usize_to_f64(origin.len()) * LINE;
    let link = format!(
        "<a href=\"{}\">{}</a>",
        escape(&foot.address),
        written(&[address], address_at, "font-size=\"12\"", &muted)
    );
    let foot = format!("{}{link}", written(&origin, 8.0, "font-size=\"12\"", &muted));
    Ok((Part { svg: title, height }, Part { svg: foot, height: address_at + MARGIN }))
}

/// Lines of text below one another; the first has its base at `y`.
fn written(lines: &[String], y: f64, look: &str, colour: &str) -> String {
    let line = |(i, text): (usize, &String)| {
        let y = number(y + usize_to_f64(i) * LINE);
        format!("<text x=\"{}\" y=\"{y}\" fill=\"{colour}\" {look}>{}</text>", number(MARGIN), escape(text))
    };
    lines.iter().enumerate().map(line).collect()
}

/// A text in lines of a width, in the font of the canvas.
fn lines_of(text: &str, context: &CanvasRenderingContext2d, width: f64) -> Result<Vec<String>, JsValue> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer {
            Some(longer) if context.measure_text(&longer)?.width() <= width => {
                lines.pop();
                lines.push(longer);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    Ok(lines)
}

/// The start of a text that fits a width.
fn cut(text: &str, context: &CanvasRenderingContext2d, width: f64) -> Result<String, JsValue> {
    // No letter is narrower than two pixels.
    let mut letters: Vec<char> = text.chars().take(f64_to_u64(width / 2.0).try_into().unwrap_or(usize::MAX)).collect();
    let is_whole = letters.len() == text.chars().count();
    let line =
        |letters: &[char], is_whole: bool| letters.iter().chain((!is_whole).then_some(&'\u{2026}')).collect::<String>();
    if is_whole && context.measure_text(text)?.width() <= width {
        return Ok(text.to_owned());
    }
    while !letters.is_empty() && context.measure_text(&line(&letters, false))?.width() > width {
        letters.pop();
    }
    Ok(line(&letters, false))
}

/// A drawing with the style sheet's values in it, as a picture that has been decoded.
pub(super) async fn image_of(svg: &Element, width: f64, height: f64) -> Result<HtmlImageElement, JsValue> {
    image_of_text(&svg_text(svg, (0.0, 0.0), (width, height))?).await
}

async fn image_of_text(svg: &str) -> Result<HtmlImageElement, JsValue> {
    let blob = download::blob("image/svg+xml", svg.as_bytes())?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let image = HtmlImageElement::new()?;
    image.set_src(&url);
    let decoded = JsFuture::from(image.decode()).await;
    Url::revoke_object_url(&url)?;
    decoded.map(|_| image)
}

/// A drawing with the style sheet's values in it, at a place and of a size.
fn svg_text(svg: &Element, (x, y): Place, (width, height): Place) -> Result<String, JsValue> {
    let copy: Element = svg.clone_node_with_deep(true)?.unchecked_into();
    let (from, to) = (svg.query_selector_all("*")?, copy.query_selector_all("*")?);
    for i in 0..from.length().min(to.length()) {
        if let (Some(from), Some(to)) = (from.get(i), to.get(i)) {
            keep_style(from.unchecked_ref(), to.unchecked_ref())?;
        }
    }
    copy.set_attribute("xmlns", "http://www.w3.org/2000/svg")?;
    for (name, value) in [("x", x), ("y", y), ("width", width), ("height", height)] {
        copy.set_attribute(name, &number(value))?;
    }
    // What belongs to the page only.
    for name in ["class", "tabindex", "role", "aria-label", "aria-hidden"] {
        copy.remove_attribute(name)?;
    }
    copy.set_attribute("overflow", "visible")?;
    XmlSerializer::new()?.serialize_to_string(&copy)
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

/// The entries of the legend of a figure, in rows of a width.
fn legend(figure: &Element, context: &CanvasRenderingContext2d, width: f64) -> Result<Part, JsValue> {
    let items = figure.query_selector_all(".legend li")?;
    let text_colour = style_of_root("--text");
    context.set_font(FONT);
    let (mut svg, mut row, mut x) = (String::new(), 0.0, MARGIN);
    for item in (0..items.length()).filter_map(|i| items.get(i)).filter_map(|item| item.dyn_into::<Element>().ok()) {
        let Some(swatch) = item.query_selector(".swatch")? else { continue };
        let text = item.text_content().unwrap_or_default();
        let text = cut(text.trim(), context, width - 2.0 * MARGIN - SWATCH - 6.0)?;
        let wide = SWATCH + 6.0 + context.measure_text(&text)?.width();
        if x > MARGIN && x + wide > width - MARGIN {
            (row, x) = (row + 1.0, MARGIN);
        }
        let middle = (row + 0.5) * LINE;
        svg.push_str(&swatch_text(&swatch, (x, middle))?);
        let (at, base) = (number(x + SWATCH + 6.0), number(middle + 4.0));
        svg.push_str(&format!(
            "<text x=\"{at}\" y=\"{base}\" fill=\"{text_colour}\" font-size=\"13\">{}</text>",
            escape(&text)
        ));
        x += wide + 14.0;
    }
    let rows = if svg.is_empty() { 0.0 } else { row + 1.0 };
    Ok(Part { svg, height: rows * LINE })
}

/// A sample of a legend: a small drawing, or a coloured box.
fn swatch_text(swatch: &Element, (x, middle): Place) -> Result<String, JsValue> {
    if swatch.local_name() == "svg" {
        let area = swatch.get_bounding_client_rect();
        let height = area.height().min(SWATCH);
        return svg_text(swatch, (x, middle - height / 2.0), (SWATCH, height));
    }
    let style = web_sys::window().ok_or("there is no window")?.get_computed_style(swatch)?.ok_or("it has no style")?;
    let colour = style.get_property_value("background-color")?;
    let (x, y) = (number(x + 4.0), number(middle - 5.0));
    Ok(format!("<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>"))
}

/// The value of a token of the style sheet, in the shown theme.
fn style_of_root(name: &str) -> String {
    let window = web_sys::window();
    let root = window.as_ref().and_then(|w| w.document()).and_then(|d| d.document_element());
    let style = window.zip(root).and_then(|(w, root)| w.get_computed_style(&root).ok().flatten());
    style.and_then(|s| s.get_property_value(name).ok()).map(|v| v.trim().to_owned()).unwrap_or_default()
}
