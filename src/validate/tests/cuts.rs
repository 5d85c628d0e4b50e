//! A part of a session never has findings that the whole session does not have.

use super::*;
use crate::session::filter::Filter;
use crate::share::{Cut, Selection};
use crate::trace::{FileHeader, MessageHeader};

/// The longest session that is cut, in events: longer ones only repeat themselves.
const MAX_EVENTS: usize = 200;

/// Filters, each of which keeps another part.
const FILTERS: [&str; 24] = [
    "dir:c2s",
    "dir:s2c",
    "kind:request",
    "kind:notification",
    "kind:result",
    "kind:error",
    "error",
    "not error",
    "method:tools/*",
    "not method:tools/*",
    "method:*list*",
    "method:notifications/*",
    "not method:notifications/*",
    "method:initialize",
    "not method:initialize",
    "ext:conversation",
    "ext:reminder",
    "ext:mcpl",
    "ext:hooks",
    "ext:mcpe",
    "slow:>0ms",
    "size:<80",
    "size:>120",
    "event:stream-closed or event:note",
];

/// An event on a tape.
type Taped = (EventHeader, Vec<u8>);

fn selection(filter: &str) -> Selection {
    Selection {
        filter: Filter::parse(filter).expect("a filter"),
        from: None,
        to: None,
        streams: Vec::new(),
        keeps_handshake: true,
        keeps_pairs: true,
    }
}

/// All ways to cut a session that ends at this time: by filters and times, with and without what belongs to the rest.
fn selections(end: i64) -> Vec<(String, Selection)> {
    let named = |name: &str, selection: Selection| (name.to_owned(), selection);
    let mut all: Vec<_> = FILTERS.iter().map(|filter| named(filter, selection(filter))).collect();
    for part in 1..4 {
        let time = Some(end * part / 4);
        all.push((format!("from {part}/4"), Selection { from: time, ..selection("") }));
        all.push((format!("to {part}/4"), Selection { to: time, ..selection("") }));
    }
    let bare = |filter| Selection { keeps_pairs: false, ..selection(filter) };
    all.push(named("bare requests", bare("kind:request")));
    all.push(named("bare responses", bare("kind:response")));
    all.push(named("no handshake", Selection { keeps_handshake: false, ..selection("not method:initialize") }));
    all.push(named("the end", Selection { keeps_handshake: false, from: Some(end / 2), ..bare("") }));
    all
}

/// Adds what a reel knows of a message without its payload.
fn indexed((mut header, payload): Taped) -> Taped {
    if header.kind == EventKind::Message {
        let kind = Envelope::scan(header.framing.body(&payload)).kind;
        header.message = Some(MessageHeader { kind, method: None, id: None });
    }
    (header, payload)
}

/// The rules that a part of the tape breaks.
fn found_in_cut(tape: &[Taped], selection: Selection) -> BTreeSet<&'static str> {
    let mut cut = Cut::new(selection);
    let event = |(header, payload): &'_ Taped, take: &mut dyn FnMut(&Event<'_>)| take(&Event { header, payload });
    tape.iter().for_each(|taped| event(taped, &mut |it| cut.take(it)));
    let kept = cut.finish();
    let mut header = FileHeader { created: 0, tool: String::new(), label: None, notes: BTreeMap::new() };
    header.mark_as_cut(format!("{} of {} events", kept.len(), tape.len()));
    let mut reporter = Reporter::new(Registry::built_in());
    reporter.validator.begin(&header);
    let kept = tape.iter().filter(|(header, _)| kept.contains(&header.seq));
    kept.for_each(|taped| event(taped, &mut |it| reporter.observe(it)));
    ids(&reporter.finish())
}

/// The rules that a part of a recording breaks, over HTTP, where one client opens two sessions on one connection.
fn found_in_two_sessions(mark: impl FnOnce(&mut FileHeader)) -> BTreeSet<&'static str> {
    let mut header = FileHeader { created: 0, tool: String::new(), label: None, notes: BTreeMap::new() };
    mark(&mut header);
    let mut feed = Feed::new();
    feed.reporter.validator.begin(&header);
    for id in [1, 3] {
        feed.line("> POST {}");
        feed.line("$HELLO");
        feed.line(&format!(r#"c>s {{"id":{},"method":"ping"}}"#, id + 1));
    }
    ids(&feed.reporter.finish())
}

#[test]
fn each_session_in_a_part_of_a_recording_may_lack_messages() {
    let whole = found_in_two_sessions(|_| {});
    let part = found_in_two_sessions(|header| header.mark_as_cut("6 of 7 events".to_owned()));
    assert!(whole.contains("pairing/open-at-end"), "{whole:?}");
    assert!(!part.contains("pairing/open-at-end"), "{part:?}");
}

#[test]
fn cuts_of_any_session_have_no_new_findings() {
    let scripts: BTreeSet<&str> = cases().map(|case| case.1).chain([good::SESSION]).chain(quiet_scripts()).collect();
    let (mut sessions, mut new) = (0, BTreeMap::<&str, Vec<String>>::new());
    for script in scripts.into_iter().filter(|script| !script.contains("damage")) {
        let mut feed = Feed::new();
        lines(script).iter().for_each(|line| feed.line(line));
        let tape: Vec<Taped> = std::mem::take(&mut feed.tape).into_iter().map(indexed).collect();
        if tape.len() > MAX_EVENTS {
            continue;
        }
        sessions += 1;
        let whole = ids(&feed.reporter.finish());
        for (name, selection) in selections(feed.time) {
            for rule in found_in_cut(&tape, selection).difference(&whole) {
                new.entry(rule).or_default().push(format!("{name}\n{script}"));
            }
        }
    }
    assert!(sessions > 300, "{sessions} sessions");
    let first: Vec<_> = new.iter().map(|(rule, all)| format!("{rule} ×{}: {}", all.len(), all[0])).collect();
    assert!(first.is_empty(), "{}", first.join("\n\n"));
}
