//! Converts SVG to PNG, for programs that cannot show SVG.

use history_core::Artifact;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo};
use resvg::usvg::{ImageHrefResolver, Options, Tree};
use std::cell::OnceCell;
use std::sync::Arc;

/// The maximum number of pixels of a picture: each takes four bytes while it is drawn.
const PIXELS_MAX: f32 = 32_000_000.0;
/// The number of pixels per unit of the SVG, unless that is too many in total.
const SCALE: f32 = 2.0;

/// Preferred font families, which contain all characters of the pictures.
const SANS: &[&str] = &["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "Segoe UI"];
const MONO: &[&str] = &["DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono", "Menlo", "Consolas", "Courier New"];

/// Draws pictures with the fonts of this machine. The fonts are searched for when the first picture is drawn.
#[derive(Default)]
pub(crate) struct Painter {
    fonts: OnceCell<Arc<Database>>,
}

impl Painter {
    /// Converts the picture to PNG, under the same name with another extension.
    ///
    /// # Errors
    ///
    /// A sentence with the reason: no fonts, invalid SVG, or too large.
    pub(crate) fn paint(&self, svg: &Artifact) -> Result<Artifact, String> {
        let fonts = self.fonts.get_or_init(|| Arc::new(installed()));
        let painted = if fonts.is_empty() {
            Err("no fonts are installed, so a PNG would have no text".into())
        } else {
            paint(svg, fonts)
        };
        painted.map_err(|why| format!("{} stays an SVG: {why}", svg.path))
    }
}

/// Returns true if a file is a picture that can be drawn as PNG.
pub(crate) fn is_svg(artifact: &Artifact) -> bool {
    stem(&artifact.path).is_some()
}

fn stem(path: &str) -> Option<&str> {
    let (stem, end) = path.rsplit_once('.')?;
    end.eq_ignore_ascii_case("svg").then_some(stem)
}

fn paint(svg: &Artifact, fonts: &Arc<Database>) -> Result<Artifact, String> {
    let mut options = Options { fontdb: Arc::clone(fonts), ..Options::default() };
    // A picture is self-contained, so it must not load other files.
    options.image_href_resolver =
        ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    let tree = Tree::from_data(&svg.content, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let scale = scale_of(size.width(), size.height());
    let scale = scale.ok_or_else(|| format!("{} by {} pixels is too large", size.width(), size.height()))?;
    let whole = size.to_int_size().scale_by(scale);
    let pixmap = whole.and_then(|whole| Pixmap::new(whole.width(), whole.height()));
    let mut pixmap = pixmap.ok_or("it has no size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let content = pixmap.encode_png().map_err(|error| error.to_string())?;
    Ok(Artifact { path: format!("{}.png", stem(&svg.path).unwrap_or(&svg.path)), content })
}

/// The factor by which a picture of this size is enlarged; `None` if it is too large even without.
fn scale_of(width: f32, height: f32) -> Option<f32> {
    [SCALE, 1.0].into_iter().find(|scale| width * height * scale * scale <= PIXELS_MAX)
}

/// The fonts of this machine. Generic families refer to installed fonts.
fn installed() -> Database {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let sans = family(&fonts, SANS, |face| !face.monospaced);
    let mono = family(&fonts, MONO, |face| face.monospaced);
    if let Some(any) = sans.clone().or_else(|| mono.clone()) {
        fonts.set_serif_family(sans.clone().unwrap_or_else(|| any.clone()));
        fonts.set_sans_serif_family(sans.unwrap_or_else(|| any.clone()));
        fonts.set_monospace_family(mono.unwrap_or(any));
    }
    fonts
}

/// The first of these families that is installed, else the first of its kind by name.
fn family(fonts: &Database, wanted: &[&str], is_kind: impl Fn(&FaceInfo) -> bool) -> Option<String> {
    let names = |face: &FaceInfo| face.families.first().map(|(name, _)| name.clone());
    let there = |name: &str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let known = wanted.iter().find(|name| there(name)).map(|name| (*name).to_owned());
    known.or_else(|| fonts.faces().filter(|face| is_kind(face)).filter_map(names).min())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(content: &str) -> Artifact {
        Artifact { path: "G1c/0.svg".into(), content: content.as_bytes().to_vec() }
    }

    const SQUARE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\">\
        <rect width=\"30\" height=\"20\" style=\"fill:#00f\"/></svg>";

    #[test]
    fn a_picture_becomes_another_of_twice_its_size() {
        let png = paint(&svg(SQUARE), &Arc::default()).unwrap();
        assert_eq!(png.path, "G1c/0.png");
        let pixmap = Pixmap::decode_png(&png.content).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (60, 40));
        let blue = pixmap.pixel(30, 20).unwrap();
        assert_eq!((blue.red(), blue.blue(), blue.alpha()), (0, 255, 255));
    }

    #[test]
    fn without_fonts_it_stays_what_it_was() {
        let painter = Painter { fonts: OnceCell::from(Arc::default()) };
        let said = painter.paint(&svg(SQUARE)).unwrap_err();
        assert!(said.starts_with("G1c/0.svg stays an SVG: no fonts"), "{said}");
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let fonts = Arc::default();
        assert!(paint(&svg("<svg"), &fonts).is_err());
        let sized = |width: &str, height: &str| SQUARE.replace("\"30\"", width).replace("\"20\"", height);
        let huge = sized("\"100000\"", "\"100000\"");
        assert!(paint(&svg(&huge), &fonts).unwrap_err().contains("too large"));
        assert_eq!(scale_of(3000.0, 9000.0), Some(1.0), "drawn at its own size");
        assert_eq!((scale_of(3000.0, 2666.0), scale_of(3000.0, 10_667.0)), (Some(SCALE), None));
    }

    #[test]
    fn only_pictures_are_drawn() {
        for (path, expected) in [("a.svg", true), ("a/b.SVG", true), ("a.svg.txt", false), ("svg", false)] {
            assert_eq!(is_svg(&Artifact { path: path.into(), content: Vec::new() }), expected, "{path}");
        }
    }

    /// Text without a font is not drawn, and only a look at the picture would show that.
    #[test]
    fn text_of_any_kind_is_drawn() {
        let fonts = Arc::new(installed());
        if fonts.is_empty() {
            // Without fonts nothing is drawn, as another test shows.
            return;
        }
        for family in ["sans-serif", "ui-monospace,monospace", "ui-sans-serif,system-ui,sans-serif"] {
            let text = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\">\
                 <style>text{{font-family:{family}}}\
                 </style><text y=\"15\" fill=\"#f00\">MM</text></svg>"
            );
            let pixmap = Pixmap::decode_png(&paint(&svg(&text), &fonts).unwrap().content).unwrap();
            assert!(pixmap.pixels().iter().any(|pixel| pixel.red() > 200), "{family}");
        }
    }
}
