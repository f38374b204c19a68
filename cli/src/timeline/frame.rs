//! What surrounds the lanes of a picture: style, title, legend; and how text enters it.

use super::lanes::Picture;
use super::scale::{WIDTH, text_width};
use crate::output::servers::duration;
use crate::output::visible;

/// Colours that stay apart for most kinds of colour blindness, for light and for dark.
const STYLE: &str = "\
svg{--paper:#fff;--ink:#1f2328;--faint:#59636e;--line:#d1d9e0;--lane:#f6f8fa;--on:#fff;\
--spawn:#6e7781;--handshake:#b35900;--listing:#0969da;--ready:#1a7f37;--stopping:#8250df;\
--failed:#cf222e;--deferred:#9a6700;--call:#0a3069}\
@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;\
--line:#3d444d;--lane:#151b23;--on:#0d1117;--spawn:#9198a1;--handshake:#f0883e;--listing:#58a6ff;\
--ready:#3fb950;--stopping:#bc8cff;--failed:#ff7b72;--deferred:#e3b341;--call:#a5d6ff}}\
text{font:13px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}\
.title{font-size:17px;font-weight:600}.faint,.told{fill:var(--faint);font-size:12px}\
.name{font-weight:600}.on{fill:var(--on);font-size:12px}\
.grid{stroke:var(--line)}.gate{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}\
.lane{fill:var(--lane)}.spawn{fill:var(--spawn)}.handshake{fill:var(--handshake)}\
.listing{fill:var(--listing)}.ready{fill:var(--ready)}.stopping{fill:var(--stopping)}\
.deferred{fill:url(#hatch);stroke:var(--deferred);stroke-width:1}.hatch{stroke:var(--deferred)}\
.halo{stroke:var(--paper);stroke-width:7;stroke-linecap:round}\
.cross{stroke:var(--failed);stroke-width:3;stroke-linecap:round}.why{fill:var(--failed);font-size:12px}\
.why,.told{paint-order:stroke;stroke:var(--paper);stroke-width:3px}\
.call{stroke:var(--call);stroke-width:2}.dot{fill:var(--call);stroke:none}\
.dot.failed{fill:var(--failed)}.dot.open{fill:var(--paper);stroke:var(--call);stroke-width:2}";

/// Everything before the picture itself.
pub(super) fn opening(out: &mut String, servers: usize, height: u64) {
    put!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>Timeline of {servers} MCP servers</title>\n<style>{STYLE}</style>\n\
         <defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line class=\"hatch\" y2=\"6\" stroke-width=\"4\"/>\
         </pattern></defs>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"var(--paper)\"/>\n"
    );
}

/// The title and the legend.
pub(super) fn heading(out: &mut String, picture: &Picture) {
    let servers = picture.lanes.len();
    let calls: usize = picture.lanes.iter().map(|lane| lane.calls.len()).sum();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    put!(
        out,
        "<text class=\"title\" x=\"20\" y=\"34\">{servers} MCP server{}, {calls} call{}, {}</text>\n",
        plural(servers),
        plural(calls),
        duration(picture.end.as_millis())
    );
    let mut x = 20;
    for (class, word) in LEGEND {
        put!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"53\" width=\"22\" height=\"12\"/>\n\
             <text class=\"faint\" x=\"{}\" y=\"63\">{word}</text>\n",
            x + 28
        );
        x += 28 + text_width(word) + 16;
    }
    put!(
        out,
        "<path class=\"cross\" d=\"M{} 54L{} 64M{} 54L{} 64\"/>\n\
         <text class=\"faint\" x=\"{}\" y=\"63\">failed</text>\n\
         <path class=\"call\" d=\"M{call} 54V64M{call} 59H{}\"/>\n\
         <circle class=\"dot\" cx=\"{}\" cy=\"59\" r=\"4\"/>\n\
         <text class=\"faint\" x=\"{}\" y=\"63\">call</text>\n",
        x,
        x + 10,
        x + 10,
        x,
        x + 18,
        x + 104,
        x + 104,
        x + 114,
        call = x + 80
    );
}

/// The bars, and what they mean.
const LEGEND: [(&str, &str); 6] = [
    ("spawn", "spawn"),
    ("handshake", "handshake"),
    ("listing", "listing tools"),
    ("ready", "ready"),
    ("stopping", "stopping"),
    ("deferred", "deferred: tools from the cache"),
];

/// Untrusted text, as text of an XML document.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible::one_line(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in XML in any form.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
