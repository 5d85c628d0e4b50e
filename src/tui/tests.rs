//! Keys and other inputs, without a reel: what the interface wants, and what it remembers.

use super::app::{App, Focus, View};
use super::draw::draw;
use super::effect::{
    Choice, DetailForm, DetailText, Effect, Found, Input, Lines, PageKind, PageLine, PageText, Progress, Request, Row,
    Scanned, Source, Target,
};
use super::keys::Key;
use super::prompt::Question;
use crate::proposals::Registry;
use crate::render::style::Palette;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn source() -> Source {
    Source { title: "a.reel".into(), sends_to: Some("the server".into()), can_fire: true, ..Source::default() }
}

/// An interface with a reel of so many events: requests with even numbers, each followed by its response. Every tenth
/// event is a failure.
fn opened(events: u32, size: (usize, usize)) -> App {
    let mut app = App::new(Registry::built_in(), size, Some(Target::Reel("a.reel".into())), "");
    app.take(Input::Opened(source()));
    let scan = scan_of(&app.effects());
    app.take(Input::Scanned(scanned(scan, 0..events, Progress::Ended)));
    app.effects();
    app
}

fn scan_of(effects: &[Effect]) -> u64 {
    let scan = effects.iter().rev().find_map(|effect| match effect {
        Effect::Scan { scan, .. } => Some(*scan),
        _ => None,
    });
    scan.expect("a scan is wanted")
}

fn scanned(scan: u64, events: std::ops::Range<u32>, progress: Progress) -> Scanned {
    let rows = events.clone().map(|seq| Row { seq, brackets: 0, failed: seq % 10 == 9, outcome: None }).collect();
    let pairs = events.clone().filter(|seq| seq % 2 == 0).map(|seq| (seq, seq + 1)).collect();
    Scanned { scan, rows, pairs, read: u64::from(events.end), progress, damage: None }
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    keys.chars().for_each(|key| app.take(Input::Key(key_of(key))));
    app.effects()
}

/// Some keys as characters.
fn key_of(letter: char) -> Key {
    match letter {
        '⏎' => Key::Enter,
        '⎋' => Key::Escape,
        '⇥' => Key::Tab,
        '↓' => Key::Down,
        '↑' => Key::Up,
        '⇟' => Key::PageDown,
        '⇞' => Key::PageUp,
        '⌫' => Key::Backspace,
        letter => Key::Char(letter),
    }
}

fn selected(app: &App) -> u32 {
    app.list.selected().expect("a row").seq
}

fn status(app: &App) -> &str {
    app.status.as_ref().map_or("", |status| &status.text)
}

#[test]
fn keys_move_in_the_list_and_lines_are_asked_for_once() {
    let mut app = App::new(Registry::built_in(), (80, 24), Some(Target::Reel("a.reel".into())), "");
    assert!(matches!(&app.effects()[..], [Effect::Open(_)]));
    app.take(Input::Opened(source()));
    let scan = scan_of(&app.effects());
    app.take(Input::Scanned(scanned(scan, 0..1000, Progress::Ended)));
    let wanted = app.effects();
    let [Effect::Lines { wanted, width: 77, layout }] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!(wanted.iter().map(|line| line.seq).collect::<Vec<_>>(), (0..42).collect::<Vec<_>>());
    assert_eq!(wanted[1].asked, Some(0), "the response needs its request");
    assert!(press(&mut app, "⇟").is_empty(), "others are awaited");
    let lines = wanted.iter().map(|line| (line.seq, "line".to_owned())).collect();
    app.take(Input::Lines(Lines { layout: *layout, headings: None, lines }));
    assert_eq!(selected(&app), 20);
    press(&mut app, "↓↓k");
    assert_eq!(selected(&app), 21);
    let wanted = press(&mut app, "G");
    assert_eq!(selected(&app), 999);
    let [Effect::Lines { wanted, .. }] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((wanted[0].seq, wanted.len()), (979, 21));
    press(&mut app, "g⇞");
    assert_eq!(selected(&app), 0);
}

#[test]
fn counterparts_failures_and_numbers_are_found() {
    let mut app = opened(100, (80, 24));
    press(&mut app, "p");
    assert_eq!(selected(&app), 1);
    press(&mut app, "p");
    assert_eq!(selected(&app), 0);
    press(&mut app, "ee");
    assert_eq!(selected(&app), 19);
    press(&mut app, "E");
    assert_eq!(selected(&app), 9);
    press(&mut app, "E");
    assert_eq!((selected(&app), status(&app)), (9, "no earlier failure"));
    press(&mut app, "#42⏎");
    assert_eq!(selected(&app), 42);
    press(&mut app, "#x⏎");
    assert_eq!((selected(&app), status(&app)), (42, "\"x\" is not a number"));
    press(&mut app, "#4200⏎");
    assert_eq!((selected(&app), status(&app)), (99, "event 4200 is not in the list; this is the last one"));
}

#[test]
fn a_filter_reads_the_reel_again_and_keeps_the_place() {
    let mut app = opened(100, (80, 24));
    press(&mut app, "#42⏎");
    let effects = press(&mut app, "ferror⏎");
    let scan = scan_of(&effects);
    assert_eq!((app.filter.as_str(), app.list.len()), ("error", 0));
    let row = |seq| Row { seq, brackets: 0, failed: false, outcome: None };
    let part = |rows: &[u32], progress| {
        let rows = rows.iter().map(|seq| row(*seq)).collect();
        Input::Scanned(Scanned { scan, rows, progress, ..Scanned::default() })
    };
    app.take(Input::Scanned(scanned(scan - 1, 0..50, Progress::Ended)));
    assert_eq!(app.list.len(), 0, "rows of the scan before");
    app.take(part(&[9, 19], Progress::Reading));
    app.take(part(&[45, 50], Progress::Reading));
    assert_eq!(selected(&app), 45, "the next one after event 42");
    let effects = press(&mut app, "fx:⏎");
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::Scan { .. })));
    assert_eq!(status(&app), "filter \"errorx:\": missing value after the colon");
    assert_eq!(app.prompt.as_ref().map(|prompt| prompt.text.as_str()), Some("errorx:"), "it can be mended");
    press(&mut app, "⎋");
    assert!(app.prompt.is_none() && app.filter == "error");
}

#[test]
fn a_message_is_opened_and_follows_the_cursor() {
    let mut app = opened(100, (80, 24));
    let effects = press(&mut app, "↓⏎");
    assert!(
        matches!(&effects[..], [Effect::Detail { line, .. }] if line.seq == 1 && line.asked == Some(0)),
        "{effects:?}"
    );
    let detail = |seq, form| {
        let lines = vec![
            "1 tools/call".into(),
            "{".into(),
            "  \"a\": [".into(),
            "    1,".into(),
            "    2".into(),
            "  ]".into(),
            "}".into(),
        ];
        Input::Detail(DetailText { seq, form, lines })
    };
    app.take(detail(1, DetailForm::Json));
    assert_eq!(app.focus, Focus::Detail);
    press(&mut app, "↓↓ ");
    let rows = |app: &App| app.detail.as_ref().map(|detail| detail.text.visible().len());
    assert_eq!(rows(&app), Some(4), "what is below \"a\" is folded");
    assert!(matches!(&press(&mut app, "b")[..], [Effect::Detail { form: DetailForm::Text, .. }]));
    app.take(detail(1, DetailForm::Json));
    assert_eq!(rows(&app), Some(4), "an answer that is not wanted any more");
    app.take(detail(1, DetailForm::Text));
    let effects = press(&mut app, "⇥↓");
    assert!(matches!(&effects[..], [Effect::Detail { line, .. }] if line.seq == 2), "{effects:?}");
    assert!(press(&mut app, "↓↓").is_empty(), "one at a time");
    app.take(detail(2, DetailForm::Text));
    let effects = app.effects();
    assert!(matches!(&effects[..], [Effect::Detail { line, .. }] if line.seq == 4), "{effects:?}");
    press(&mut app, "⎋");
    assert!(app.detail.is_none());
}

#[test]
fn a_search_goes_on_where_it_is() {
    let mut app = opened(100, (80, 24));
    let effects = press(&mut app, "/Hello⏎");
    let [Effect::Search { job, needle, from: 0, forward: true, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(needle, "hello");
    assert!(app.is_busy());
    app.take(Input::Found(Found { job: job + 1, seq: Some(3), wrapped: false }));
    assert_eq!(selected(&app), 0, "of another job");
    app.take(Input::Found(Found { job: *job, seq: Some(33), wrapped: true }));
    assert_eq!((selected(&app), status(&app)), (33, "the search continued at the other end"));
    let effects = press(&mut app, "N");
    let [Effect::Search { job, from: 33, forward: false, .. }] = &effects[..] else { panic!("{effects:?}") };
    app.take(Input::Found(Found { job: *job, seq: None, wrapped: true }));
    assert_eq!(status(&app), "no match for \"hello\"");
    press(&mut app, "n");
    assert!(matches!(&press(&mut app, "⎋")[..], [Effect::Stop]));
}

#[test]
fn views_are_made_for_the_width_and_lead_to_messages() {
    let mut app = opened(100, (80, 24));
    let effects = press(&mut app, "2");
    let [Effect::Page { job, kind: PageKind::Sequence, width: 77, .. }] = &effects[..] else { panic!("{effects:?}") };
    let line = |text: &str, seq| PageLine { text: text.into(), seq };
    let lines = vec![line("client server", None), line("7 call", Some(7)), line("", None), line("8 result", Some(8))];
    app.take(Input::Page(PageText { job: job - 1, lines: Vec::new() }));
    assert!(app.is_busy());
    app.take(Input::Page(PageText { job: *job, lines }));
    press(&mut app, "g↓⏎");
    assert_eq!((app.view, status(&app)), (View::Page(PageKind::Sequence), "this line is about no single message"));
    press(&mut app, "↓⏎");
    assert_eq!((app.view, selected(&app)), (View::Messages, 8));
    press(&mut app, "4");
    app.take(Input::Resized(60, 20));
    let effects = app.effects();
    let is_anew = |effect: &Effect| matches!(effect, Effect::Page { kind: PageKind::Statistics, width: 57, .. });
    assert!(effects.iter().any(is_anew), "{effects:?}");
    press(&mut app, "q");
    assert_eq!(app.view, View::Messages);
    assert!(matches!(&press(&mut app, "q")[..], [Effect::Quit]));
}

#[test]
fn what_is_sent_is_confirmed() {
    let mut app = opened(10, (80, 24));
    assert!(matches!(&press(&mut app, "r")[..], [Effect::Edit(0)]));
    assert!(matches!(&press(&mut app, "↓r")[..], [Effect::Edit(0)]), "the request of the response");
    let params = "{\n  \"name\": \"echo\"\n}";
    let request = Request { method: "tools/call".into(), params: params.into(), is_notification: false };
    let question = Question::Send(request.clone());
    let shown = format!("{}{}", question.label("the server"), question.rest());
    assert_eq!(shown, "send tools/call to the server? [y/N]  { \"name\": \"echo\" }");
    for (keys, is_sent) in [("n", false), ("⏎", false), ("⎋", false), ("y", true)] {
        app.take(Input::Edited(request.clone()));
        let effects = press(&mut app, keys);
        assert_eq!(matches!(&effects[..], [Effect::Send { request: sent, .. }] if *sent == request), is_sent, "{keys}");
        assert!(app.prompt.is_none());
    }
    assert_eq!(app.view, View::Page(PageKind::Sent));
    press(&mut app, "⎋");
    let effects = press(&mut app, ":message hi⏎");
    assert!(matches!(&effects[..], [Effect::Fire { words, .. }] if words == "message hi"), "{effects:?}");
}

#[test]
fn why_a_key_does_nothing_is_said() {
    let mut app = opened(10, (80, 24));
    app.take(Input::Opened(Source { title: "b.reel".into(), ..Source::default() }));
    app.effects();
    let mut said = |keys: &str| {
        assert!(press(&mut app, keys).is_empty(), "{keys}");
        status(&app).to_owned()
    };
    assert_eq!(said("⏎"), "no message is selected");
    assert_eq!(said(":"), "`fire` needs a live session: mcpreel tui --session NAME");
    assert_eq!(said("n"), "/ searches for a text");
    assert_eq!(said("b"), "Enter opens the message");
    assert_eq!(said("e"), "no later failure");
    let mut app = opened(10, (80, 24));
    app.take(Input::Opened(Source { title: "b.reel".into(), ..Source::default() }));
    let scan = scan_of(&app.effects());
    app.take(Input::Scanned(Scanned { pairs: Vec::new(), ..scanned(scan, 0..10, Progress::Ended) }));
    app.effects();
    press(&mut app, "r");
    assert!(status(&app).starts_with("no server to send to"), "{}", status(&app));
    press(&mut app, "p");
    assert!(status(&app).starts_with("no counterpart"), "{}", status(&app));
}

#[test]
fn a_live_session_is_followed_until_the_user_looks_elsewhere() {
    let mut app = App::new(Registry::built_in(), (80, 24), Some(Target::Session("s".into())), "");
    app.take(Input::Opened(Source { is_live: true, ..source() }));
    let scan = scan_of(&app.effects());
    app.take(Input::Scanned(scanned(scan, 0..50, Progress::Waiting)));
    assert_eq!(selected(&app), 49);
    app.take(Input::Scanned(scanned(scan, 50..60, Progress::Waiting)));
    assert_eq!(selected(&app), 59);
    press(&mut app, "↑");
    app.take(Input::Scanned(scanned(scan, 60..90, Progress::Waiting)));
    assert_eq!(selected(&app), 58);
    press(&mut app, "F");
    assert_eq!((selected(&app), app.list.follows), (89, true));
    press(&mut app, "F");
    assert!(!app.list.follows);
    press(&mut app, "gG");
    assert_eq!((selected(&app), app.list.follows), (89, true), "the end of a list that grows");
    app.take(Input::Scanned(scanned(scan, 90..95, Progress::Waiting)));
    assert_eq!(selected(&app), 94);
}

#[test]
fn what_can_be_opened_is_chosen_and_headings_are_not() {
    let mut app = App::new(Registry::built_in(), (80, 24), None, "");
    assert!(matches!(&app.effects()[..], [Effect::ListChoices { width: 77 }]));
    let heading = |line: &str| Choice { line: line.into(), target: None };
    let reel = |name: &str| Choice { line: name.into(), target: Some(Target::Reel(name.into())) };
    let choices = vec![heading("Reels"), heading("time"), reel("a.reel"), heading(""), reel("b.reel")];
    app.take(Input::Choices(choices));
    for (keys, expected) in [("⏎", "a.reel"), ("↓⏎", "b.reel"), ("↓⏎", "b.reel"), ("↑⏎", "a.reel"), ("↑↑⏎", "a.reel")]
    {
        let effects = press(&mut app, keys);
        assert!(
            matches!(&effects[..], [Effect::Open(Target::Reel(path))] if path.to_str() == Some(expected)),
            "{keys}: {effects:?}"
        );
    }
    assert!(matches!(&press(&mut app, "q")[..], [Effect::Quit]));
}

/// The rows of the screen, without colours and without the space at their ends.
fn screen(app: &App, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| draw(app, &Palette::plain(), frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let row =
        |row: u16| (0..width).map(|column| buffer[(column, row)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(row).collect()
}

#[test]
fn without_anything_to_open_the_screen_says_what_to_do() {
    for size in [(80, 24), (40, 20)] {
        let mut app = App::new(Registry::built_in(), (size.0.into(), size.1.into()), None, "");
        app.effects();
        assert!(screen(&app, size).iter().any(|row| row.contains("looking for sessions")));
        let none = |line: &str| Choice { line: line.into(), target: None };
        app.take(Input::Choices(vec![none("No live sessions"), none(""), none("No reels in /x")]));
        let rows = screen(&app, size);
        assert_eq!((rows[1].as_str(), rows[3].as_str()), (" No live sessions", " No reels in /x"));
        for text in ["mcpreel record -- my-server", "mcpreel demo", "press o to look again"] {
            assert!(rows[5..].iter().any(|row| row.contains(text)), "{text}: {rows:#?}");
        }
        assert!(rows.last().is_some_and(|row| row.starts_with("o look again")), "{rows:#?}");
        assert!(matches!(&press(&mut app, "o")[..], [Effect::ListChoices { .. }]));
    }
}

#[test]
fn damage_is_reported_once_and_stays_in_the_title() {
    let mut app = opened(10, (80, 24));
    let scan = scan_of(&press(&mut app, "ferror⏎"));
    let damaged = || Scanned { damage: Some("damage at byte 538".into()), ..scanned(scan, 0..2, Progress::Reading) };
    app.take(Input::Scanned(damaged()));
    assert_eq!(status(&app), "the reel is damaged: damage at byte 538");
    press(&mut app, "j");
    app.take(Input::Scanned(damaged()));
    assert_eq!(status(&app), "");
    assert!(screen(&app, (80, 24))[0].contains(" damaged filter: error"), "{:?}", screen(&app, (80, 24))[0]);
}

#[test]
fn a_long_message_for_the_user_takes_several_rows() {
    let mut app = opened(10, (40, 12));
    app.take(Input::Failed(
        "cannot start the editor /nonexistent/editor: No such file; VISUAL or EDITOR names another".into(),
    ));
    let rows = screen(&app, (40, 12));
    assert_eq!(
        rows[9..].join(" "),
        "cannot start the editor /nonexistent/editor: No such file; VISUAL or EDITOR names another"
    );
    app.take(Input::Edited(Request { method: "tools/call".into(), params: "x".repeat(90), is_notification: false }));
    let rows = screen(&app, (40, 12));
    assert!(rows[11].starts_with("send tools/call to the server? [y/N]"), "{rows:#?}");
}

#[test]
fn a_message_on_a_tiny_screen_has_its_title() {
    let mut app = opened(10, (10, 3));
    press(&mut app, "⏎");
    assert_eq!(screen(&app, (10, 3))[1], "── event 0");
}

#[test]
fn headings_of_a_picture_stay_on_the_screen() {
    let mut app = opened(100, (80, 10));
    let effects = press(&mut app, "2");
    let [Effect::Page { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    let line = |text: String, seq| PageLine { text, seq };
    let mut lines = vec![line("client server".into(), None)];
    lines.extend((0..50).map(|seq| line(format!("{seq} call"), Some(seq))));
    app.take(Input::Page(PageText { job: *job, lines }));
    press(&mut app, "G");
    let rows = screen(&app, (80, 10));
    assert_eq!((rows[1].as_str(), rows[8].split("  ").next()), (" client server", Some(">49 call")), "{rows:#?}");
}

#[test]
fn every_view_fits_every_size() {
    let views = ["", "⏎", "⏎z", "2", "?", "o", "f", "/x", "#", "⏎b"];
    let sizes = [(80, 24), (40, 10), (60, 16), (20, 5), (10, 3), (1, 1), (2, 2), (200, 60)];
    for keys in views {
        let mut app = opened(300, (80, 24));
        press(&mut app, "⏎");
        let lines = (0..200).map(|number| format!("  \"{number}\": [")).collect();
        app.take(Input::Detail(DetailText { seq: 0, form: DetailForm::Json, lines }));
        press(&mut app, "⎋");
        press(&mut app, keys);
        for (width, height) in sizes {
            app.take(Input::Resized(width, height));
            app.effects();
            press(&mut app, "↓↓");
            let backend = TestBackend::new(u16::try_from(width).expect("small"), u16::try_from(height).expect("small"));
            let mut terminal = Terminal::new(backend).expect("a terminal");
            terminal.draw(|frame| draw(&app, &Palette::coloured(), frame)).expect("drawn");
        }
    }
}
