//! Texts on the screen of the terminal interface, with keys: nothing controls the terminal, no text is lost, and the
//! cursor stays on the screen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::render::text::visible;
use mcpreel::testing::tui::ansi::{plain, styled, wrapped};
use mcpreel::testing::tui::effect::PageLine;
use mcpreel::testing::tui::keys::Motion;
use mcpreel::testing::tui::text::Text;

fuzz_target!(|data: &[u8]| {
    let [width, height, keys, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(text);
    let (width, height) = (usize::from(width % 100), usize::from(height % 50));
    for line in text.lines() {
        let rows = wrapped(line, width);
        assert_eq!(rows.iter().map(|row| plain(row)).collect::<String>(), plain(line));
        for row in rows {
            let shown = styled(&row);
            assert!(shown.spans.iter().flat_map(|span| span.content.chars()).all(|found| visible(found) == found));
            assert!(shown.width() <= width.max(1) || plain(&row).chars().filter(|found| is_wide(*found)).count() == 1);
        }
    }
    let lines = (0..).zip(text.lines()).map(|(seq, text)| PageLine { text: text.to_owned(), seq: Some(seq) }).collect();
    use_keys(Text::new(lines, keys & 1 != 0, (width, height)), &data[3..], height);
});

/// Whether a character takes place on the screen.
fn is_wide(found: char) -> bool {
    styled(&found.to_string()).width() > 0
}

fn use_keys(mut text: Text, keys: &[u8], mut height: usize) {
    for key in keys.iter().take(64) {
        let number = usize::from(key >> 3);
        match key & 7 {
            0 => text.go(Motion::Lines(number as isize - 16)),
            1 => text.go(Motion::Pages(number as isize - 16)),
            2 => text.go(if number & 1 == 0 { Motion::Start } else { Motion::End }),
            3 => text.fold_all(),
            4 => drop(text.fold()),
            5 => drop(text.search(&String::from_utf8_lossy(&keys[..number.min(keys.len())]), number & 1 == 0)),
            6 => text.go_to_event(number as u64),
            _ => {
                height = number;
                text.resize(number * 3, height);
            }
        }
        let (at, count) = (text.cursor_on_screen(), text.visible().len());
        assert!(at < count || count == 0, "{at} of {count} in {height}");
        let _ = (text.line(), text.extent());
    }
}
