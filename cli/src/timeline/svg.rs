//! The picture of a run as SVG: a lane per server over time.
//!
//! Pure string building. One file that a browser opens by itself, in light and in dark; all that
//! servers said is escaped.

use tidegate_core::time::Timestamp;

use super::calls::Rows;
use super::frame::{escape, heading, opening};
use super::lanes::{Lane, Picture, Span, Stage};
use super::scale::{Scale, WIDTH, text_width};
use crate::output::columns::cut;
use crate::output::servers::duration;
use crate::output::visible;

/// Where the first lane begins.
const TOP: u64 = 118;
/// The height of a lane without calls.
const LANE: u64 = 46;
/// The height of a bar.
const BAR: u64 = 20;
/// How much of the reason of a failure is shown, in characters.
const WHY: usize = 90;
/// How much of a server's name is shown, in characters.
const NAME: usize = 20;
/// The height of the axis below the lanes.
const AXIS: u64 = 40;

/// The picture.
pub(crate) fn render(picture: &Picture) -> String {
    let scale = Scale::of(picture.end);
    let lanes = place(&picture.lanes, scale);
    let bottom = lanes.last().map_or(TOP + LANE, |last| last.y + last.height());
    let mut out = String::new();
    opening(&mut out, picture.lanes.len(), bottom + AXIS);
    heading(&mut out, picture);
    for (at, lane) in lanes.iter().enumerate() {
        background(&mut out, lane, at);
    }
    axis(&mut out, scale, bottom);
    for lane in &lanes {
        bars(&mut out, lane, scale);
    }
    gates(&mut out, picture, scale, bottom);
    for lane in &lanes {
        for (at, why) in &lane.lane.failures {
            failure(&mut out, scale.x(*at), lane.y, why);
        }
        lane.calls.draw(&mut out, lane.y + LANE, scale);
    }
    out.push_str("</svg>\n");
    out
}

/// A lane with its place and its calls.
struct Placed<'a> {
    lane: &'a Lane,
    y: u64,
    calls: Rows<'a>,
}

fn place(lanes: &[Lane], scale: Scale) -> Vec<Placed<'_>> {
    let mut y = TOP;
    let mut placed = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let calls = Rows::of(&lane.calls, scale);
        let one = Placed { lane, y, calls };
        y += one.height();
        placed.push(one);
    }
    placed
}

impl Placed<'_> {
    fn height(&self) -> u64 {
        LANE + self.calls.height()
    }
}

fn background(out: &mut String, lane: &Placed<'_>, at: usize) {
    let Placed { lane: Lane { server, state, .. }, y, .. } = lane;
    if at.is_multiple_of(2) {
        let height = lane.height();
        put!(
            out,
            "<rect class=\"lane\" x=\"8\" y=\"{y}\" width=\"{}\" height=\"{height}\" rx=\"6\"/>\n",
            WIDTH - 16
        );
    }
    let name = cut(&visible::one_line(server.as_str()), NAME);
    let full = escape(server.as_str());
    put!(
        out,
        "<text class=\"name\" x=\"20\" y=\"{}\">{}<title>{full}</title></text>\n\
         <text class=\"faint\" x=\"20\" y=\"{}\">{}</text>\n",
        y + 22,
        escape(&name),
        y + 39,
        escape(state)
    );
}

fn axis(out: &mut String, scale: Scale, bottom: u64) {
    for ms in scale.marks() {
        let x = scale.x(Timestamp::from_millis(ms));
        put!(
            out,
            "<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\n\
             <text class=\"faint\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 20,
            duration(ms),
        );
    }
}

fn bars(out: &mut String, placed: &Placed<'_>, scale: Scale) {
    let Placed { lane, y, .. } = placed;
    for span in &lane.stages {
        let (class, word) = stage(span.what);
        let bounds = Bounds { y: y + 8, height: BAR, ..Bounds::of(span, scale) };
        let ms = span.to.unwrap_or(scale.end).since(span.from);
        bar(out, class, &bounds, &format!("{word}: {}", duration(ms)));
        label(out, &bounds, word, &duration(ms));
    }
    for span in &lane.deferred {
        let bounds = Bounds { y: y + 8 + BAR + 3, height: 7, ..Bounds::of(span, scale) };
        let ms = span.to.unwrap_or(scale.end).since(span.from);
        bar(out, "deferred", &bounds, &format!("tools offered from the cache: {}", duration(ms)));
    }
}

/// Where a bar is.
struct Bounds {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
}

impl Bounds {
    /// As long as the span, and never too thin to be seen.
    fn of<T>(span: &Span<T>, scale: Scale) -> Self {
        let x = scale.x(span.from);
        let width = scale.x(span.to.unwrap_or(scale.end)).saturating_sub(x).max(2);
        Self { x, y: 0, width, height: 0 }
    }
}

fn bar(out: &mut String, class: &str, at: &Bounds, title: &str) {
    let Bounds { x, y, width, height } = at;
    put!(
        out,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\
         <title>{}</title></rect>\n",
        escape(title)
    );
}

/// The name and the length of a stage inside its bar, as far as there is room.
fn label(out: &mut String, at: &Bounds, word: &str, time: &str) {
    let both = format!("{word} {time}");
    let fits = |text: &&str| text_width(text) + 8 <= at.width;
    if let Some(text) = [both.as_str(), time].into_iter().find(fits) {
        put!(out, "<text class=\"on\" x=\"{}\" y=\"{}\">{text}</text>\n", at.x + 5, at.y + 14);
    }
}

fn failure(out: &mut String, x: u64, y: u64, why: &str) {
    let (left, right, top, low) = (x.saturating_sub(5), x + 5, y + 13, y + 23);
    let cross = format!("M{left} {top}L{right} {low}M{right} {top}L{left} {low}");
    let told = escape(&cut(&visible::one_line(why), WHY));
    let (anchor, text_x) =
        if x > WIDTH / 2 { ("end", x + 5) } else { ("start", x.saturating_sub(5)) };
    put!(
        out,
        "<path class=\"halo\" d=\"{cross}\"/>\n\
         <path class=\"cross\" d=\"{cross}\"><title>{}</title></path>\n\
         <text class=\"why\" x=\"{text_x}\" y=\"{}\" text-anchor=\"{anchor}\">{told}</text>\n",
        escape(why),
        y + 42
    );
}

fn gates(out: &mut String, picture: &Picture, scale: Scale, bottom: u64) {
    for at in &picture.gates {
        let x = scale.x(*at);
        let told = format!("gate opens, {}", duration(at.as_millis()));
        let fits = x + text_width(&told) / 2 <= WIDTH;
        let (text_x, anchor) = if fits { (x, "middle") } else { (WIDTH - 4, "end") };
        put!(
            out,
            "<line class=\"gate\" x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{bottom}\"/>\n\
             <text class=\"name\" x=\"{text_x}\" y=\"{}\" text-anchor=\"{anchor}\">{told}</text>\n",
            TOP - 10,
            TOP - 16,
        );
    }
}

const fn stage(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Spawn => ("spawn", "spawn"),
        Stage::Handshake => ("handshake", "handshake"),
        Stage::Listing => ("listing", "listing"),
        Stage::Ready => ("ready", "ready"),
        Stage::Stopping => ("stopping", "stopping"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(lines: &[&str]) -> String {
        let lines: Vec<_> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        render(&Picture::of(&lines))
    }

    #[test]
    fn an_empty_record_is_a_picture_too() {
        let svg = drawn(&[]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains(">0 MCP servers, 0 calls, 0 ms<"));
    }

    #[test]
    fn what_servers_say_cannot_leave_its_place() {
        let svg = drawn(&[
            r#"{"at":5,"event":{"server-changed":{"server":"</text><script>&'\"","state":"connected"}}}"#,
            r#"{"at":5,"event":{"server-changed":{"server":"b\u001b[2J\uffff","state":{"failed":{"failure":{"stage":"spawn","cause":{"invalid":{"message":"<b>\u0000"}},"after_ms":1}}}}}}"#,
        ]);
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;&amp;&#39;&quot;"));
        assert!(svg.contains("&lt;b&gt;\\x00") && svg.contains("b\\x1b[2J\u{fffd}"));
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
        assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
    }

    #[test]
    fn every_kind_of_bar_is_in_the_legend() {
        let svg = drawn(&[]);
        for stage in [Stage::Spawn, Stage::Handshake, Stage::Listing, Stage::Ready, Stage::Stopping]
        {
            let (class, _) = super::stage(stage);
            assert!(svg.contains(&format!("<rect class=\"{class}\"")), "{class}");
        }
        assert!(svg.contains("<rect class=\"deferred\""));
    }

    #[test]
    fn the_longest_time_still_fits() {
        let end = u64::MAX.to_string();
        let line = format!("{{\"at\":{end},\"tick\":true}}");
        assert!(drawn(&[&line]).matches("class=\"grid\"").count() < 20);
    }
}
