//! The calls of a lane: which row each is in, and how it is drawn.

use super::frame::escape;
use super::lanes::{Call, Ending};
use super::scale::{Scale, WIDTH, text_width};
use crate::output::columns::cut;
use crate::output::servers::duration;
use crate::output::visible;

/// The height of a row of calls.
const CALL: u64 = 18;
/// How many rows of calls a lane has; more of them overlap in the last one.
const CALL_ROWS_MAX: usize = 8;
/// How much of the name of a tool is shown, in characters.
const TOOL: usize = 40;

/// Calls in rows in which they do not overlap, with or without what they are beside them.
pub(super) struct Rows<'a> {
    rows: Vec<Vec<&'a Call>>,
    labels: Labels,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Labels {
    Shown,
    Hidden,
}

impl<'a> Rows<'a> {
    /// Many calls go without labels, so that the lane does not outgrow the screen.
    pub(super) fn of(calls: &'a [Call], scale: Scale) -> Self {
        let labelled = Self::pack(calls, scale, Labels::Shown);
        if labelled.rows.len() <= CALL_ROWS_MAX {
            return labelled;
        }
        Self::pack(calls, scale, Labels::Hidden)
    }

    fn pack(calls: &'a [Call], scale: Scale, labels: Labels) -> Self {
        let mut rows: Vec<Vec<&Call>> = Vec::new();
        let mut taken: Vec<u64> = Vec::new();
        for call in calls {
            let (from, mut to) =
                (scale.x(call.span.from), scale.x(call.span.to.unwrap_or(scale.end)));
            if labels == Labels::Shown {
                to += 14 + text_width(&words(call, scale));
            }
            let free = taken.iter().position(|taken| *taken < from);
            let full = labels == Labels::Hidden && rows.len() >= CALL_ROWS_MAX;
            let row = free.or_else(|| full.then(|| rows.len() - 1)).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
                taken.push(0);
            }
            if let (Some(row), Some(taken)) = (rows.get_mut(row), taken.get_mut(row)) {
                row.push(call);
                *taken = to + 4;
            }
        }
        Self { rows, labels }
    }

    /// How high they are together.
    pub(super) fn height(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX).saturating_mul(CALL)
    }

    /// Draws the calls below `y`.
    pub(super) fn draw(&self, out: &mut String, y: u64, scale: Scale) {
        let mut y = y + 4;
        for row in &self.rows {
            for call in row {
                one_call(out, call, y, scale);
                if self.labels == Labels::Shown {
                    beside(out, call, y, scale);
                }
            }
            y += CALL;
        }
    }
}

fn one_call(out: &mut String, call: &Call, y: u64, scale: Scale) {
    let (x1, x2) = (scale.x(call.span.from), scale.x(call.span.to.unwrap_or(scale.end)));
    let (class, _) = ending(call.span.what);
    put!(
        out,
        "<path class=\"call\" d=\"M{x1} {}V{}M{x1} {y}H{x2}\"/>\n\
         <circle class=\"dot {class}\" cx=\"{x2}\" cy=\"{y}\" r=\"4\"><title>{}</title></circle>\n",
        y - 5,
        y + 5,
        escape(&words(call, scale)),
    );
}

/// The words behind a call, or before it where there is no room behind.
fn beside(out: &mut String, call: &Call, y: u64, scale: Scale) {
    let (x1, x2) = (scale.x(call.span.from), scale.x(call.span.to.unwrap_or(scale.end)));
    let told = words(call, scale);
    let (anchor, x) = if x2 + text_width(&told) + 14 > WIDTH {
        ("end", x1.saturating_sub(8))
    } else {
        ("start", x2 + 10)
    };
    put!(
        out,
        "<text class=\"told\" x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
        y + 4,
        escape(&told),
    );
}

/// What stands beside a call.
fn words(call: &Call, scale: Scale) -> String {
    let (_, ending) = ending(call.span.what);
    let ms = duration(call.span.to.unwrap_or(scale.end).since(call.span.from));
    format!("{} {ms}{ending}", cut(&visible::one_line(&call.tool), TOOL))
}

const fn ending(ending: Ending) -> (&'static str, &'static str) {
    match ending {
        Ending::Open => ("open", ", not ended"),
        Ending::Answered => ("answered", ""),
        Ending::Failed => ("failed", ", failed"),
        Ending::Aborted => ("failed", ", aborted"),
    }
}
