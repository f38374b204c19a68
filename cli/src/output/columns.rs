//! Columns that line up, whatever stands in them.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::paint::{Paint, Tone};

/// No column is made wider than this for the sake of one long cell; that cell sticks out. As long
/// as the longest name of a tool.
const COLUMN_MAX: usize = 64;
/// The space between two columns.
const GAP: &str = "  ";

/// One cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    side: Side,
}

#[derive(Clone, Copy, Debug, Default)]
enum Side {
    #[default]
    Left,
    Right,
}

impl Cell {
    /// A cell; the text must be safe for a terminal.
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone, side: Side::Left }
    }

    /// A cell whose text ends where its column ends: a number.
    pub(crate) fn number(tone: Tone, text: impl Into<String>) -> Self {
        Self { side: Side::Right, ..Self::new(tone, text) }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

/// One line of a table.
#[derive(Clone, Debug)]
enum Line {
    Cells(Vec<Cell>),
    /// Text of its own below a row, without columns.
    Note(Cell),
}

/// A table without borders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    lines: Vec<Line>,
}

impl Columns {
    /// A table with headings.
    pub(crate) fn headed(headings: &[&str]) -> Self {
        let cells = headings.iter().map(|heading| Cell::new(Tone::Faint, *heading)).collect();
        Self { lines: vec![Line::Cells(cells)] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.lines.push(Line::Cells(cells));
    }

    /// Adds a line below the last row.
    pub(crate) fn note(&mut self, tone: Tone, text: impl Into<String>) {
        self.lines.push(Line::Note(Cell::new(tone, text)));
    }

    /// The table as text. Columns in which no row has anything are left out, and lines are cut
    /// at `width` columns, if there is a width.
    pub(crate) fn render(&self, paint: Paint, width: Option<usize>) -> String {
        let widths = self.widths();
        let mut out = String::new();
        for line in &self.lines {
            match line {
                Line::Cells(cells) => row(&mut out, cells, &widths, paint, width),
                Line::Note(cell) => {
                    let text = cut(&cell.text, width.unwrap_or(usize::MAX));
                    let _ = write!(out, "{}", paint.text(cell.tone, &text));
                }
            }
            out.push('\n');
        }
        out
    }

    /// The width of each column; 0 if only its heading has something to say.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        let mut filled: Vec<bool> = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            let Line::Cells(cells) = line else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            filled.resize(widths.len(), false);
            for ((cell, width), filled) in cells.iter().zip(&mut widths).zip(&mut filled) {
                *width = (*width).max(cell.width().min(COLUMN_MAX));
                *filled |= at > 0 && !cell.text.is_empty();
            }
        }
        widths.iter().zip(filled).map(|(width, filled)| if filled { *width } else { 0 }).collect()
    }
}

fn row(out: &mut String, cells: &[Cell], widths: &[usize], paint: Paint, limit: Option<usize>) {
    let mut used = 0;
    let mut pending = 0;
    let shown = cells.iter().zip(widths).filter(|(_, width)| **width > 0);
    for (at, (cell, width)) in shown.enumerate() {
        let gap = if at == 0 { 0 } else { GAP.len() };
        let padding = width.saturating_sub(cell.width());
        let (before, after) = match cell.side {
            Side::Left => (0, padding),
            Side::Right => (padding, 0),
        };
        // Spaces are written only before something, so that no line ends in them.
        pending += gap + before;
        if cell.text.is_empty() {
            pending += after;
            continue;
        }
        let room = limit.unwrap_or(usize::MAX).saturating_sub(used + pending);
        let text = cut(&cell.text, room);
        if text.is_empty() {
            return;
        }
        out.extend(std::iter::repeat_n(' ', pending));
        let _ = write!(out, "{}", paint.text(cell.tone, &text));
        used += pending + text.width();
        pending = after;
    }
}

/// The text, cut to `room` columns with an ellipsis as its last sign.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let mut shown: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect();
    if room > 0 {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 3]]) -> Columns {
        let mut columns = Columns::headed(&["A", "N", "C"]);
        for [a, n, c] in rows {
            columns.row(vec![
                Cell::new(Tone::Plain, *a),
                Cell::number(Tone::Plain, *n),
                Cell::new(Tone::Plain, *c),
            ]);
        }
        columns
    }

    #[test]
    fn columns_line_up_also_with_wide_characters() {
        let text = table(&[["fast", "7", "x"], ["漢字", "1234", "y"]]).render(Paint::Plain, None);
        assert_eq!(text, "A     N     C\nfast     7  x\n漢字  1234  y\n");
    }

    #[test]
    fn an_empty_column_is_left_out_and_no_line_ends_in_spaces() {
        let text = table(&[["a", "", ""], ["b", "", "z"]]).render(Paint::Plain, None);
        assert_eq!(text, "A  C\na\nb  z\n");
    }

    #[test]
    fn one_long_name_sticks_out_instead_of_moving_everything() {
        let long = "n".repeat(70);
        let text = table(&[[&long, "1", "x"], ["b", "2", "y"]]).render(Paint::Plain, None);
        assert_eq!(text.lines().nth(1).unwrap(), format!("{long}  1  x"));
        assert_eq!(text.lines().nth(2).unwrap(), format!("b{}  2  y", " ".repeat(63)));
    }

    #[test]
    fn lines_are_cut_at_the_edge_of_the_terminal() {
        let text = table(&[["a", "1", "a long description"]]).render(Paint::Plain, Some(14));
        assert_eq!(text.lines().nth(1).unwrap(), "a  1  a long …");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字", 0), "");
    }
}
