//! Secrets in tables: what stands under a heading that suggests a secret, in Markdown, HTML, CSV and text with tabs, and
//! in the rows of SQL's `INSERT`.

mod insert;

use super::{checks, names};
use std::ops::Range;

/// Between the cells of a line: these are tried in turn.
const DIVIDERS: [u8; 4] = [b'|', b'\t', b';', b','];
/// The maximum length of a heading, in bytes.
const LONGEST_HEADING: usize = 40;
/// The maximum number of columns.
const MAX_COLUMNS: usize = 100;
/// What decorates the text of a cell.
const DECORATION: &[u8] = b" \t\r*_`\"'";

/// Returns the places of the secrets in tables, in order; they do not overlap.
pub(super) fn cells(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = in_lines(text);
    found.extend(in_html(text));
    found.extend(insert::values(text));
    found.extend(in_columns(text));
    found.sort_by_key(|cell| cell.start);
    let mut end = 0;
    found.retain(|cell| {
        let is_free = cell.start >= end;
        end = if is_free { cell.end } else { end };
        is_free
    });
    found
}

/// Returns the places of secrets under the headings of lines with dividers.
fn in_lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut table: Option<(u8, Vec<bool>)> = None;
    let mut lines = lines(text).peekable();
    let mut before = 0..0;
    while let Some(line) = lines.next() {
        if is_rule(&text[line.clone()]) {
            continue;
        }
        let row = table.as_ref().map(|(divider, columns)| (columns, divided(text, &line, *divider)));
        match row {
            Some((columns, row)) if row.len() == columns.len() => found.extend(secrets(text, columns, &row)),
            _ => {
                let is_ruled = lines.peek().is_some_and(|next| is_rule(&text[next.clone()]));
                table = heading(text, &line, &before, is_ruled);
            }
        }
        before = line;
    }
    found
}

/// Whether a line only divides headings from rows.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() > 2
        && line.iter().all(|byte| b"-+|:=> \t".contains(byte))
        && line.iter().any(|byte| b"-=".contains(byte))
}

/// Returns the divider of a line of headings, and which columns have secrets; `None` if no heading suggests one. A row
/// beneath other rows is none, and with vertical bars, headings have a rule beneath them.
fn heading(text: &[u8], line: &Range<usize>, before: &Range<usize>, is_ruled: bool) -> Option<(u8, Vec<bool>)> {
    let count = |line: &Range<usize>, divider: u8| memchr::memchr_iter(divider, &text[line.clone()]).count();
    let is_first = |divider: &u8| match count(line, *divider) {
        0 => false,
        _ if *divider == b'|' => is_ruled,
        dividers => dividers != count(before, *divider),
    };
    DIVIDERS.into_iter().filter(is_first).find_map(|divider| {
        let row = divided(text, line, divider);
        let columns = columns(text, &row, is_ruled && divider == b'|')?;
        Some((divider, columns))
    })
}

/// Returns which columns have secrets. `is_certain` says that these are headings, whatever they look like: outside of the
/// outermost bars may be anything.
fn columns(text: &[u8], headings: &[Range<usize>], is_certain: bool) -> Option<Vec<bool>> {
    let is_heading = |cell: &Range<usize>| {
        let in_heading = |byte: &u8| byte.is_ascii_alphanumeric() || b" _.-#/".contains(byte) || *byte >= 128;
        cell.len() <= LONGEST_HEADING && text[cell.clone()].iter().all(in_heading)
    };
    if headings.len() < 2 || headings.len() > MAX_COLUMNS || !is_certain && !headings.iter().all(is_heading) {
        return None;
    }
    let columns =
        headings.iter().map(|cell| is_heading(cell) && names::is_secret(&String::from_utf8_lossy(&text[cell.clone()])));
    let columns: Vec<bool> = columns.collect();
    columns.contains(&true).then_some(columns)
}

/// Returns the places of the secrets in a row.
fn secrets(text: &[u8], columns: &[bool], row: &[Range<usize>]) -> Vec<Range<usize>> {
    let cells = columns.iter().zip(row).filter(|(is_secret, _)| **is_secret).map(|(_, cell)| cell.clone());
    let is_one_word = |cell: &Range<usize>| !text[cell.clone()].iter().any(u8::is_ascii_whitespace);
    cells.filter(|cell| is_one_word(cell) && checks::is_convincing(&text[cell.clone()])).collect()
}

/// Returns the places of secrets in columns that only spaces divide, under headings that are underlined one by one.
fn in_columns(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut before) = (Vec::new(), 0..0);
    let mut table: Option<(Vec<usize>, Vec<bool>)> = None;
    for line in lines(text) {
        let starts = underlined(&text[line.clone()]);
        if starts.len() > 1 {
            let columns = columns(text, &spaced(text, &before, &starts), true);
            table = columns.map(|columns| (starts, columns));
        } else if text[line.clone()].trim_ascii().is_empty() {
            table = None;
        } else if let Some((starts, columns)) = &table {
            found.extend(secrets(text, columns, &spaced(text, &line, starts)));
        }
        before = line;
    }
    found
}

/// Returns where the lines begin with which headings are underlined, in characters; nothing if there is anything else.
fn underlined(line: &[u8]) -> Vec<usize> {
    let line = line.trim_ascii_end();
    if line.len() < 5 || !line.iter().all(|byte| b"- ".contains(byte)) {
        return Vec::new();
    }
    let is_start = |at: &usize| line[*at] == b'-' && (*at == 0 || line[*at - 1] == b' ');
    (0..line.len()).filter(is_start).take(MAX_COLUMNS + 1).collect()
}

/// Returns the places of the cells of a line that begin at these characters.
fn spaced(text: &[u8], line: &Range<usize>, starts: &[usize]) -> Vec<Range<usize>> {
    let is_begun = |at: &usize| text[*at] & 0xc0 != 0x80;
    let mut characters = line.clone().filter(is_begun).enumerate();
    let mut begins = |start: usize| characters.find(|(number, _)| *number == start).map_or(line.end, |(_, at)| at);
    let begins: Vec<usize> = starts.iter().map(|start| begins(*start)).chain(std::iter::once(line.end)).collect();
    begins.windows(2).map(|cell| bare(text, cell[0]..cell[1])).collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split(|byte| *byte == b'\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        start..start + line.len()
    })
}

/// Returns the places of the cells of a line, without what decorates them. A divider in quotes divides nothing.
fn divided(text: &[u8], line: &Range<usize>, divider: u8) -> Vec<Range<usize>> {
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), line.start, false);
    for at in line.clone() {
        match text[at] {
            b'"' => is_quoted = !is_quoted,
            byte if byte == divider && !is_quoted => {
                cells.push(bare(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(bare(text, start..line.end));
    cells
}

/// Leaves out what decorates a cell.
fn bare(text: &[u8], cell: Range<usize>) -> Range<usize> {
    let is_text = |byte: &u8| !DECORATION.contains(byte);
    let inner = &text[cell.clone()];
    let Some(first) = inner.iter().position(is_text) else { return cell.start..cell.start };
    let last = inner.iter().rposition(is_text).unwrap_or(first);
    cell.start + first..cell.start + last + 1
}

/// Returns the places of secrets in tables of HTML.
fn in_html(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut row) = (Vec::new(), Vec::new());
    let mut table: Option<Vec<bool>> = None;
    let mut end_row = |row: &mut Vec<Range<usize>>| {
        match &table {
            Some(columns) if columns.len() == row.len() => found.extend(secrets(text, columns, row)),
            _ => table = columns(text, row, false).or(table.take()),
        }
        row.clear();
    };
    for at in memchr::memchr_iter(b'<', text) {
        let Some(name) = text.get(at + 1..at + 3) else { break };
        match name.to_ascii_lowercase().as_slice() {
            b"tr" => end_row(&mut row),
            b"th" | b"td" => row.extend(contents(text, at)),
            _ => {}
        }
    }
    end_row(&mut row);
    found
}

/// Returns the place of the text in an element of HTML; of the first text, if there are elements around it.
fn contents(text: &[u8], element: usize) -> Option<Range<usize>> {
    let mut at = element;
    loop {
        let start = at + memchr::memchr(b'>', &text[at..])? + 1;
        let end = start + memchr::memchr(b'<', &text[start..])?;
        let cell = bare(text, start..end);
        let is_end = text.get(end + 1) == Some(&b'/');
        if !cell.is_empty() || is_end {
            return Some(cell);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        cells(text.as_bytes()).into_iter().map(|cell| &text[cell]).collect()
    }

    #[test]
    fn what_stands_under_a_telling_heading_is_found() {
        for text in [
            "| user | password |\n| --- | :-: |\n| me | hunter2x |\n| you | trust0no1 |\n\npassword hunter9x",
            "<p>| user | password |\n| --- | --- |\n| me | hunter2x |\n| you | trust0no1 |</p>",
            "> | user | password |\n> | --- | --- |\n> | me | hunter2x |\n> | you | trust0no1 |",
            "user | Password\n---|---\nme | hunter2x\nyou | **trust0no1**",
            "Users:\nuser,password,role\nme,hunter2x,admin\nyou,\"trust0no1\",admin",
            "\"user\";\"password\"\r\n\"me\";\"hunter2x\"\r\n\"a;b\";trust0no1\r\n",
            " user | password \n------+----------\n me   | hunter2x \n you  | trust0no1\n(2 rows)",
            "+----+-----+\n| id | pin |\n+----+-----+\n| me | hunter2x |\n| it | trust0no1 |\n+----+-----+",
            "user\tpass\nme\thunter2x\nyou\ttrust0no1",
            "user  password  role\n----  --------  ----\nme    hunter2x  a b\nyöu   trust0no1\n\nyou   hunter3x",
            "    pin       user\n    --------- ----\n    hunter2x  me\n    trust0no1 you\n",
            "<table><tr><th>User<th>API key</tr><tr><td>me<td>hunter2x</tr><tr><td>me</td><td><code>trust0no1</code></td></tr></table>",
            "<TABLE>\n<TR><TD>User</TD><TD>Token</TD></TR>\n<TR><TD>me</TD><TD>hunter2x</TD></TR><TR><TD></TD><TD>trust0no1</TD></TR>",
        ] {
            assert_eq!(found(text), ["hunter2x", "trust0no1"], "{text}");
        }
    }

    #[test]
    fn what_is_no_table_or_no_secret_is_not_found() {
        for text in [
            "| parameter | token |\n|---|---|\n| name | string |\n| id2 | access_token2 |",
            "the user, the password, and the token that is in v2,\nare read, checked, and b0th sent",
            "login(user, password, token)\nfoo(a1, b2, c3)",
            "user,password\nme,hunter2,too many",
            "| a | b |\n|---|---|\n| x | token |\n| y | hunter2x |\n| z | password |\n| y | hunter2x |",
            "| user | password |\n| me | hunter2x |",
            "user  password\nme    hunter2x",
            "the password\n---\nhunter2x",
            "- -\n-- --\n",
            "| rule | token |\n|---|---|\n| x | a Token named in URLs of v2 |",
            "user,role\nme,token\nyou,hunter2x\n",
            "<td>password</td>",
            "token",
            "",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
