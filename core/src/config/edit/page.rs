//! A text, its tokens, and the changes to be made in it.
//!
//! Floor 2. Knows where commas, comments and line ends go, and nothing of what the text means.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::config::syntax::jsonc::{Piece, PieceKind};

/// How something is printed that is put into a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'s> {
    /// How the line it is put in is indented; `None` if all has to stay on one line.
    pub(super) lines: Option<&'s str>,
    /// What each level is indented by.
    pub(super) unit: &'s str,
    /// How lines end.
    pub(super) newline: &'s str,
}

/// What becomes of the comments about what is taken out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Comments {
    Stay,
    Go,
}

/// A text that is being edited.
#[derive(Debug)]
pub(super) struct Page<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    newline: &'static str,
    unit: String,
    changes: Vec<(Range<usize>, String)>,
}

impl<'a> Page<'a> {
    pub(super) fn new(text: &'a str, pieces: Vec<Piece>) -> Self {
        let first = text.find('\n').unwrap_or_default();
        let newline =
            if text.get(..first).is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" };
        let mut page = Self { text, pieces, newline, unit: String::new(), changes: Vec::new() };
        page.unit = page.unit_of_text();
        page
    }

    /// The text with its changes.
    pub(super) fn finish(mut self) -> String {
        // Stable: of two changes at one place the one that was made first stands first.
        self.changes.sort_by_key(|(span, _)| span.start);
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (span, new) in &self.changes {
            out.push_str(self.text.get(at..span.start).unwrap_or_default());
            out.push_str(new);
            at = at.max(span.end);
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }

    pub(super) fn replace(&mut self, span: Range<usize>, new: String) {
        self.changes.push((span, new));
    }

    /// Replaces a value by one that may take several lines.
    pub(super) fn put_in(&mut self, span: &Range<usize>, value: impl Fn(Shape<'_>) -> String) {
        let indent = self.indent_of_line(span.start).0;
        let new = value(self.shape(Some(indent)));
        self.replace(span.clone(), new);
    }

    /// Adds a value after everything.
    pub(super) fn append(&mut self, value: impl Fn(Shape<'_>) -> String) {
        let end = self.text.len();
        let before =
            if self.text.is_empty() || self.text.ends_with('\n') { "" } else { self.newline };
        let new = format!("{before}{}{}", value(self.shape(Some(""))), self.newline);
        self.replace(end..end, new);
    }

    /// Adds an item to the end of an object or a list, whose items' values stand at `values`.
    pub(super) fn insert(
        &mut self,
        container: &Range<usize>,
        values: &[Range<usize>],
        item: impl Fn(Shape<'_>) -> String,
    ) {
        let (open, close) = (container.start, container.end.saturating_sub(1));
        let token = self.pieces.partition_point(|piece| piece.span.start < close);
        let before = token.checked_sub(1).and_then(|at| self.pieces.get(at));
        let anchor = before.map_or(open + 1, |piece| piece.span.end);
        let after_line_comment = before.is_some_and(|piece| piece.kind == PieceKind::Line);
        let Some(last) = values.last() else {
            return self.insert_first(open, anchor..close, item);
        };
        let key = self.start_of(last.start);
        let (own_indent, alone) = self.indent_of_line(key);
        let outer = self.indent_of_line(open).0;
        let deeper = format!("{outer}{}", self.unit);
        let breaks = |from, to| self.slice(from..to).contains('\n');
        let previous = values.len().checked_sub(2).and_then(|at| values.get(at));
        let over_lines = after_line_comment || breaks(previous.map_or(open, |it| it.end), key);
        let indent = if alone { own_indent } else { deeper.as_str() };
        let lines = over_lines.then_some(indent);
        let new = item(self.shape(lines));
        let lead = lines.map_or_else(|| " ".into(), |indent| format!("{}{indent}", self.newline));
        let comma = self.comma_after(last.end);
        let trail = if comma.is_some() { "," } else { "" };
        if comma.is_none() {
            self.replace(last.end..last.end, ",".into());
        }
        self.replace(anchor..anchor, format!("{lead}{new}{trail}"));
    }

    /// Adds an item to an object or a list without any; `gap` is from after its comments to its
    /// closing bracket.
    fn insert_first(&mut self, open: usize, gap: Range<usize>, item: impl Fn(Shape<'_>) -> String) {
        let is_list = self.slice(open..open + 1) == "[";
        let outer = self.indent_of_line(open).0;
        let has_lines = self.slice(gap.clone()).contains('\n');
        if is_list && !has_lines {
            let new = item(self.shape(None));
            return self.replace(gap, new);
        }
        let indent = format!("{outer}{}", self.unit);
        let (newline, new) = (self.newline, item(self.shape(Some(&indent))));
        if has_lines {
            self.replace(gap.start..gap.start, format!("{newline}{indent}{new}"));
        } else {
            self.replace(gap, format!("{newline}{indent}{new}{newline}{outer}"));
        }
    }

    /// Takes items out of an object or a list, with their commas.
    pub(super) fn remove(&mut self, values: &[Range<usize>], gone: &[bool], comments: Comments) {
        let marked = || values.iter().zip(gone);
        let mut cut: Vec<Range<usize>> = Vec::new();
        for (value, _) in marked().filter(|(_, gone)| **gone) {
            let mut item = self.start_of(value.start)..value.end;
            if let Some(comma) = self.comma_after(value.end) {
                if self.slice(item.end..comma.start).trim().is_empty() {
                    item.end = comma.end;
                } else {
                    cut.push(comma);
                }
            }
            if comments == Comments::Go {
                item = self.with_comments(item);
            }
            cut.push(self.with_blanks(item));
        }
        // Without a comma after the last item there must be none after the last that stays.
        let closed = values.last().is_some_and(|last| self.comma_after(last.end).is_some());
        let stays = marked().rev().find(|(_, gone)| !**gone).map(|(value, _)| value);
        if let (Some(stays), Some(true), false) = (stays, gone.last(), closed) {
            cut.extend(self.comma_after(stays.end));
        }
        cut.into_iter().for_each(|span| self.replace(span, String::new()));
    }

    /// An item that has its lines for itself, and the comments that are about it: those on the
    /// lines directly above it, and those on its last line.
    fn with_comments(&self, item: Range<usize>) -> Range<usize> {
        if !self.indent_of_line(item.start).1 {
            return item;
        }
        let is_comment = |piece: &&Piece| piece.kind.is_comment();
        let at = self.pieces.partition_point(|piece| piece.span.start < item.start);
        let above = self.pieces.get(..at).unwrap_or_default().iter().rev().take_while(is_comment);
        let mut start = item.start;
        for piece in above {
            let next = self.slice(piece.span.end..start).matches('\n').count() == 1;
            if !next || !self.indent_of_line(piece.span.start).1 {
                break;
            }
            start = piece.span.start;
        }
        let at = self.pieces.partition_point(|piece| piece.span.start < item.end);
        let after = self.pieces.get(at..).unwrap_or_default().iter().take_while(is_comment);
        let mut end = item.end;
        for piece in after.take_while(|piece| !self.slice(item.end..piece.span.end).contains('\n'))
        {
            end = piece.span.end;
        }
        let rest = self.slice(end..self.text.len()).lines().next().unwrap_or_default();
        start..if rest.trim().is_empty() { end } else { item.end }
    }

    /// An item and the blanks that go with it: its lines if nothing else is on them.
    fn with_blanks(&self, item: Range<usize>) -> Range<usize> {
        let blank = |c: char| c == ' ' || c == '\t';
        let before = self.slice(0..item.start);
        let left = before.trim_end_matches(blank).len();
        let after = self.slice(item.end..self.text.len());
        let right = item.end + (after.len() - after.trim_start_matches(blank).len());
        let rest = self.slice(right..self.text.len());
        let line_starts = left == 0 || before.get(..left).is_some_and(|it| it.ends_with('\n'));
        let line_ends = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
        match line_ends {
            Some(next) if line_starts => left..self.text.len() - next.len(),
            // The first of its line keeps to the bracket that it kept to.
            _ if line_starts || before.ends_with(['[', '{']) => item.start..right,
            _ => left..item.end,
        }
    }

    fn shape<'s>(&'s self, lines: Option<&'s str>) -> Shape<'s> {
        Shape { lines, unit: &self.unit, newline: self.newline }
    }

    /// Where the item begins whose value stands at `value`: at its key if it has one.
    fn start_of(&self, value: usize) -> usize {
        let at = self.pieces.partition_point(|piece| piece.span.start < value);
        let mut before = self
            .pieces
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .filter(|piece| matches!(piece.kind, PieceKind::Other | PieceKind::Comma));
        match before.next() {
            Some(colon) if self.slice(colon.span.clone()) == ":" => {
                before.next().map_or(value, |key| key.span.start)
            }
            _ => value,
        }
    }

    /// The comma that follows a value, comments between left aside.
    fn comma_after(&self, end: usize) -> Option<Range<usize>> {
        let at = self.pieces.partition_point(|piece| piece.span.start < end);
        let rest = self.pieces.get(at..).unwrap_or_default();
        let next = rest.iter().find(|piece| !piece.kind.is_comment())?;
        (next.kind == PieceKind::Comma).then(|| next.span.clone())
    }

    /// How the line of a place is indented, and whether nothing else is before the place.
    fn indent_of_line(&self, place: usize) -> (&'a str, bool) {
        let before = self.text.get(..place).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.get(start..).unwrap_or_default();
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        (line.get(..blank).unwrap_or_default(), blank == line.len())
    }

    /// What a level is indented by: as the first thing that is indented, or by two spaces.
    fn unit_of_text(&self) -> String {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
            let is_token = |piece: &Piece| piece.kind == PieceKind::Other;
            let next = self.pieces.partition_point(|piece| piece.span.start < at + blank);
            let next = self.pieces.get(next).filter(|piece| is_token(piece));
            if blank > 0 && next.is_some_and(|piece| piece.span.start == at + blank) {
                return line.get(..blank).unwrap_or_default().into();
            }
            at += line.len();
        }
        "  ".into()
    }

    fn slice(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }
}
