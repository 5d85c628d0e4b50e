//! Screens of the interface with real reels.

use super::fetch::Fetcher;
use super::pages::{Paper, Search};
use super::reel::Reel;
use super::scan::Scan;
use crate::cli::packs::PackOptions;
use crate::proposals::Registry;
use crate::render::style::Palette;
use crate::trace::{EventKind, FileHeader, Flags, NewEvent, ReelWriter, WriterOptions};
use crate::tui::app::App;
use crate::tui::draw::draw;
use crate::tui::effect::{Effect, Input, PageText, Source, Target};
use crate::tui::keys::Key;
use crate::wire::{Direction, Framing};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};
use std::path::Path;
use unicode_width::UnicodeWidthStr;

use Direction::{ClientToServer as C2S, ServerToClient as S2C};

/// Writes a reel with these messages, one every 10 ms.
fn write(path: &Path, messages: &[(Direction, String)]) {
    let header = FileHeader { created: 1_700_000_000_000_000_000, ..FileHeader::default() };
    let mut writer = ReelWriter::create(Vec::new(), &header, WriterOptions::default()).expect("begun");
    for (time, (direction, text)) in (0i64..).step_by(10_000_000).zip(messages) {
        let (kind, flags, framing) = (EventKind::Message, Flags::toward(*direction), Framing::Lf);
        let (stream, exchange, payload) = (0, 0, text.as_bytes());
        writer.append(NewEvent { time, stream, exchange, kind, flags, framing, payload }).expect("written");
    }
    let (bytes, _) = writer.finish().expect("finished");
    std::fs::write(path, bytes).expect("written");
}

fn session() -> Vec<(Direction, String)> {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ide","version":"1"}}}"#;
    let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"db","version":"2"}}}"#;
    let call = |id: u64, name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    let result = |id: u64, text: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    };
    vec![
        (C2S, initialize.into()),
        (S2C, initialized.into()),
        (C2S, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into()),
        (C2S, call(1, "query", r#"{"sql":"select 1","limits":{"rows":10,"bytes":4096}}"#)),
        (
            S2C,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"one row"}}"#.into(),
        ),
        (S2C, result(1, "1 row")),
        (C2S, call(2, "query", r#"{"sql":"drop"}"#)),
        (S2C, r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"not allowed: drop"}}"#.into()),
        (C2S, call(3, "日本語 e\u{301} שלום", r#"{"text":"\u001b[2J \u202e evil"}"#)),
        (S2C, result(3, "\u{1b}[31mred\u{9b}2J\u{202e}\u{7}")),
        (S2C, "Listening on port 3000 \u{1b}[2J".into()),
        (S2C, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#.into()),
    ]
}

/// The interface with a reel. What it wants is done at once.
struct Stage {
    _folder: tempfile::TempDir,
    app: App,
    reel: &'static Reel,
    fetcher: Fetcher<'static>,
    size: (u16, u16),
    /// What was wanted and cannot be done here.
    others: Vec<Effect>,
}

impl Stage {
    fn new(messages: &[(Direction, String)], size: (u16, u16)) -> Self {
        Self::of(messages, size, Palette::plain())
    }

    fn of(messages: &[(Direction, String)], size: (u16, u16), palette: Palette) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.reel");
        write(&path, messages);
        let registry = Registry::built_in();
        let reel: &'static Reel = Box::leak(Box::new(Reel { path: path.clone(), live: None, registry, palette }));
        let mut app = App::new(registry, (size.0.into(), size.1.into()), Some(Target::Reel(path)), "");
        app.take(Input::Opened(Source { title: "session.reel".into(), ..Source::default() }));
        let fetcher = Fetcher::new(reel).expect("a reel");
        let mut stage = Self { _folder: folder, app, reel, fetcher, size, others: Vec::new() };
        stage.perform();
        stage
    }

    fn perform(&mut self) {
        loop {
            let effects = self.app.effects();
            if effects.is_empty() {
                return;
            }
            effects.into_iter().for_each(|effect| self.perform_one(effect));
        }
    }

    fn perform_one(&mut self, effect: Effect) {
        let input = match effect {
            Effect::Scan { scan, filter } => {
                let app = &mut self.app;
                let pass = |scanned| {
                    app.take(Input::Scanned(scanned));
                    true
                };
                Scan::new(self.reel, filter, scan).run(pass, || true).expect("read");
                return;
            }
            Effect::Lines { layout, width, wanted } => {
                Input::Lines(self.fetcher.lines(layout, width, &wanted).expect("read"))
            }
            Effect::Detail { line, form, width } => {
                Input::Detail(self.fetcher.detail(line, form, width).expect("read"))
            }
            Effect::Page { job, kind, width, filter } => {
                let paper = Paper { reel: self.reel, packs: &PackOptions::default(), filter, width };
                Input::Page(PageText { job, lines: paper.page(kind, &|| true).expect("made") })
            }
            Effect::Search { job, needle, from, forward, filter } => {
                let search = Search::new(job, &needle, from, forward).expect("a search");
                Input::Found(search.run(self.reel, &filter, &|| true).expect("read"))
            }
            other => return self.others.push(other),
        };
        self.app.take(input);
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        for letter in keys.chars() {
            let key = match letter {
                '⏎' => Key::Enter,
                '⎋' => Key::Escape,
                '⇥' => Key::Tab,
                '↓' => Key::Down,
                letter => Key::Char(letter),
            };
            self.app.take(Input::Key(key));
            self.perform();
        }
        self
    }

    fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.size = (width, height);
        self.app.take(Input::Resized(width.into(), height.into()));
        self.perform();
        self
    }

    fn terminal(&self) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).expect("a terminal");
        terminal.draw(|frame| draw(&self.app, &self.reel.palette, frame)).expect("drawn");
        terminal
    }

    /// What is on the screen, without the space at the ends of lines.
    fn screen(&self) -> String {
        let terminal = self.terminal();
        let buffer = terminal.backend().buffer();
        let row = |row: u16| {
            let (mut text, mut column) = (String::new(), 0);
            while column < self.size.0 {
                let symbol = buffer[(column, row)].symbol();
                text.push_str(symbol);
                column += u16::try_from(symbol.width()).expect("small").max(1);
            }
            text.trim_end().to_owned() + "\n"
        };
        (0..self.size.1).map(row).collect()
    }
}

/// The screen, with a note in place of each run of empty rows.
fn squeezed(screen: &str) -> String {
    let (mut out, mut empty) = (String::new(), 0);
    for row in screen.lines() {
        if row.is_empty() {
            empty += 1;
            continue;
        }
        if empty > 0 {
            out.push_str(&format!("({empty} empty)\n"));
        }
        (empty, out) = (0, out + row + "\n");
    }
    out
}

#[test]
fn all_screens_at_four_widths() {
    for (width, height) in [(60, 16), (80, 24), (120, 24), (200, 24)] {
        let mut stage = Stage::new(&session(), (width, height));
        let keys = ["", "#9⏎⏎", "⎋2", "3", "4", "5", "?", "1f error or text:日本"];
        let screens = keys.map(|keys| squeezed(&stage.keys(keys).screen()));
        insta::assert_snapshot!(format!("screens_{width}"), screens.join("════════\n"));
    }
}

#[test]
fn a_message_below_the_list_and_on_the_whole_screen() {
    let mut stage = Stage::new(&session(), (80, 24));
    let keys = ["↓↓↓⏎", "↓↓↓↓↓ ", "zb", "b"];
    let mut screens = keys.map(|keys| squeezed(&stage.keys(keys).screen())).to_vec();
    screens.push(squeezed(&stage.resize(60, 14).screen()));
    insta::assert_snapshot!("detail", screens.join("════════\n"));
}

#[test]
fn a_filter_and_its_errors() {
    let mut stage = Stage::new(&session(), (80, 24));
    let keys = ["ftool:query not err", "or⏎", "f)⏎", "⎋f or error⏎e"];
    let screens = keys.map(|keys| squeezed(&stage.keys(keys).screen()));
    insta::assert_snapshot!("filter", screens.join("════════\n"));
}

#[test]
fn text_of_strangers_never_controls_the_terminal() {
    let mut stage = Stage::of(&session(), (80, 24), Palette::coloured());
    let steers = |found: char| crate::wire::text::visible(found) != found;
    for keys in ["", "#8⏎⏎", "b", "b", "⇥↓", "b", "⎋", "2", "3", "4", "5", "1", "#10⏎⏎", "/evil⏎", "f\u{9b}2J⏎"]
    {
        let terminal = stage.keys(keys).terminal();
        let odd = terminal.backend().buffer().content().iter().find(|cell| cell.symbol().chars().any(steers));
        assert!(odd.is_none(), "{keys:?}: {odd:?}");
    }
    let shown = stage.keys("⎋⎋⎋⎋1#9⏎⏎b").screen();
    assert!(shown.contains("␛[31mred"), "{shown}");
}

#[test]
fn a_search_reads_messages_and_lines() {
    let mut stage = Stage::new(&session(), (80, 24));
    let mut at = |keys: &str| {
        stage.keys(keys);
        (
            stage.app.list.selected().expect("a row").seq,
            stage.app.status.as_ref().map_or(String::new(), |it| it.text.clone()),
        )
    };
    let other_end = "the search continued at the other end".to_owned();
    assert_eq!(at("/DROP⏎"), (6, String::new()));
    assert_eq!(at("n"), (7, String::new()));
    assert_eq!(at("n"), (6, other_end.clone()));
    assert_eq!(at("N"), (7, other_end.clone()));
    assert_eq!(at("N"), (6, String::new()));
    // The name of the tool is in the line of the response, not in its bytes.
    assert_eq!(at("#4⏎/query⏎"), (5, String::new()));
    assert_eq!(at("/nowhere⏎"), (5, "no match for \"nowhere\"".into()));
    // Of the messages that the filter selects, only one has the text.
    assert_eq!(at("fdir:c2s⏎/drop⏎"), (6, other_end.clone()));
    assert_eq!(at("n"), (6, other_end));
}

#[test]
fn findings_lead_to_their_messages() {
    let mut stage = Stage::new(&session(), (80, 40));
    let shown = stage.keys("5").screen();
    assert!(shown.contains("error pairing/orphan-response"), "{shown}");
    stage.keys("/seq 11⏎⏎");
    assert_eq!(stage.app.list.selected().map(|row| row.seq), Some(11), "{}", stage.screen());
}

#[test]
fn colours_are_those_of_show() {
    let stage = Stage::of(&session(), (80, 24), Palette::coloured());
    let terminal = stage.terminal();
    let buffer = terminal.backend().buffer();
    let column =
        |row: u16, letter: &str| (0..80).find(|column| buffer[(*column, row)].symbol() == letter).expect("an arrow");
    assert_eq!(buffer[(column(5, "→"), 5)].fg, Color::Indexed(31), "to the server");
    assert_eq!(buffer[(column(7, "←"), 7)].fg, Color::Indexed(133), "to the client");
    assert!(buffer[(10, 2)].modifier.contains(Modifier::REVERSED), "the cursor");
    let stage = Stage::new(&session(), (80, 24));
    let terminal = stage.terminal();
    assert!(terminal.backend().buffer().content().iter().all(|cell| cell.fg == Color::Reset), "without colours");
}

#[test]
fn lines_are_those_of_show_wherever_they_are_read() {
    let echo = |id: u64| {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"n":{id}}}}}}}"#
        );
        let result = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{id} {}"}}]}}}}"#,
            "x".repeat(2000)
        );
        [(C2S, call), (S2C, result)]
    };
    let messages: Vec<_> = (0..3000).flat_map(echo).collect();
    let mut stage = Stage::new(&messages, (100, 20));
    assert_eq!(stage.app.list.len(), 6000);
    for seq in [5999, 0, 3001, 2999, 1, 4711] {
        let shown = stage.keys(&format!("#{seq}⏎")).screen();
        let id = seq / 2;
        let line = shown.lines().find(|line| line.starts_with('>')).expect("a cursor");
        let expected = match seq % 2 {
            0 => format!("{id} ┌ tools/call echo n={id}"),
            _ => format!("{id} └ echo → \"{id} xxx"),
        };
        assert!(line.contains(&expected), "{seq}: {line}");
        assert_eq!(line.contains("10.0 ms"), seq % 2 == 1, "{line}");
    }
}
