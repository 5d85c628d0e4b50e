//! The page of one session. Texts of messages are written in compressed blocks while the reel is read; what all views need of
//! every event comes at the end.

use super::assets::asset;
use super::columns::{Columns, Extra, Texts};
use super::shell;
use crate::check::{Checked, Located};
use crate::proposals::Registry;
use crate::session::filter::{Filter, FilterInput};
use crate::session::steps::{Mark, Steps};
use crate::session::summary::Depth;
use crate::session::view::{Placed, Viewer, Words, is_carrier};
use crate::trace::{Event, EventKind};
use crate::wire::MessageKind;
use crate::wire::mask::{masked, masked_bytes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A block is written when it has this many bytes. A page reads one at a time.
const BLOCK_BYTES: usize = 256 << 10;
/// At most this many findings are in a page.
const MAX_FINDINGS: usize = 2000;
/// At most this many proposals and packs have a bit of their own.
const MAX_EXTENSIONS: usize = 31;
/// The marks, in the order of their bits.
const MARKS: [Mark; 6] = [Mark::Injected, Mark::Invalid, Mark::Late, Mark::Unasked, Mark::Truncated, Mark::Unanswered];

/// What stands in the page beside the events.
pub struct Summary<'a> {
    /// When the recording began, for people.
    pub created: String,
    /// Whether secrets are replaced.
    pub redacted: bool,
    /// Whether some events could not be read.
    pub damaged: bool,
    /// What a check found.
    pub checked: &'a Checked,
    /// What the model would have seen.
    pub turns: Vec<Value>,
}

/// Writes the page of one session.
pub struct SessionPage<W> {
    out: W,
    viewer: Viewer,
    words: Words,
    steps: Steps,
    columns: Columns,
    texts: Texts,
    /// The proposals and packs, each with its filter.
    extensions: Vec<(&'static str, Filter)>,
    block: Vec<u8>,
    blocks: u64,
    /// How many bytes of the page are written.
    written: u64,
}

impl<W: Write> SessionPage<W> {
    /// Writes the beginning of the page. The title is any text.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn begin(out: W, title: &str, registry: &'static Registry) -> io::Result<Self> {
        let names = registry.iter().map(|proposal| proposal.descriptor().name).take(MAX_EXTENSIONS);
        let filter = |name| Some((name, Filter::parse_knowing(&format!("ext:{name}"), registry).ok()?));
        let mut page = Self {
            out,
            viewer: Viewer::default(),
            words: Words::knowing(registry),
            steps: Steps::unfolded(),
            columns: Columns::default(),
            texts: Texts::default(),
            extensions: names.filter_map(filter).collect(),
            block: Vec::new(),
            blocks: 0,
            written: 0,
        };
        page.write(&shell::head(title, Some(&shell::script())))?;
        page.write(&format!("<body>\n{}", asset("body.html").replace("{{title}}", &shell::escaped(title))))?;
        Ok(page)
    }

    /// Takes the next event, which is in the page if it is selected. `methods` are those of the reel so far.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn take(&mut self, event: &Event<'_>, methods: &[Box<str>], is_selected: bool) -> io::Result<()> {
        let header = event.header;
        let kind = header.message.as_ref().map(|message| message.kind);
        let placed = self.viewer.place(event, methods);
        let method = placed.method(header, methods);
        self.words.report(event, method, &placed, Depth::Details);
        if kind == Some(MessageKind::Request) {
            self.viewer.remember(&self.words);
        }
        let (before, is_shown) = (self.steps.all().len(), is_selected && !is_carrier(event));
        self.steps.take(event, method, (&placed, &self.words), is_shown, Vec::new());
        if self.steps.all().len() == before {
            return Ok(());
        }
        let tool = placed.tool.clone().or_else(|| self.words.tool.as_deref().map(Into::into));
        let extensions = self.extensions_of(event, method, &placed, tool.as_deref());
        let place = Some(self.keep(event.payload)?);
        let extra = Extra { method, tool: tool.as_deref(), extensions, place };
        self.columns.push(header, &extra, &mut self.texts);
        Ok(())
    }

    /// The bits of the proposals and packs that an event belongs to.
    fn extensions_of(&self, event: &Event<'_>, method: Option<&str>, placed: &Placed, tool: Option<&str>) -> u32 {
        if event.header.kind != EventKind::Message {
            return 0;
        }
        let placed = placed.input(event.header, method, Some(event.body()));
        let input = FilterInput { tool, ..placed };
        let bit = |(at, (_, filter)): (usize, &(&str, Filter))| match filter.decide(&input) {
            Some(true) => 1 << at,
            _ => 0,
        };
        self.extensions.iter().enumerate().map(bit).sum()
    }

    /// Adds bytes to the current block. Returns its number and their place in it.
    fn keep(&mut self, payload: &[u8]) -> io::Result<(u64, std::ops::Range<u64>)> {
        if self.block.len() >= BLOCK_BYTES || self.block.len() + payload.len() > 4 * BLOCK_BYTES {
            self.write_block()?;
        }
        let start = self.block.len() as u64;
        self.block.extend_from_slice(&masked_bytes(payload));
        Ok((self.blocks, start..start + payload.len() as u64))
    }

    fn write_block(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            let block = std::mem::take(&mut self.block);
            self.write_data(&format!("block-{}", self.blocks), &block)?;
            self.blocks += 1;
        }
        Ok(())
    }

    /// Writes bytes as an element with this id: compressed, in letters that mean nothing in HTML.
    fn write_data(&mut self, id: &str, data: &[u8]) -> io::Result<()> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(data)?;
        let text = STANDARD.encode(packed.finish()?);
        self.write(&format!("<script type=\"application/octet-stream\" id=\"{id}\">{text}</script>\n"))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.written += text.len() as u64;
        self.out.write_all(text.as_bytes())
    }

    /// Writes the rest. Returns the output and the size of the page in bytes.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn finish(mut self, summary: Summary<'_>) -> io::Result<(W, u64)> {
        self.write_block()?;
        self.steps.finish(self.viewer.finish(true));
        let names = MARKS.map(Mark::name);
        self.columns.finish(self.steps.all(), &names, &mut self.texts);
        let findings = self.findings(summary.checked);
        let left_out: u64 = summary.checked.not_kept.values().sum();
        let index = json!({
            "created": summary.created, "redacted": summary.redacted, "damaged": summary.damaged,
            "leftOut": self.steps.left_out(), "texts": self.texts.all, "columns": self.columns,
            "streams": self.streams(), "markNames": names, "findings": findings,
            "extensions": self.extensions.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            "findingsLeftOut": left_out + summary.checked.findings.len().saturating_sub(MAX_FINDINGS) as u64,
            "turns": summary.turns,
        });
        self.write_data("index", &masked_bytes(index.to_string().as_bytes()))?;
        self.write(&format!("<script>{}</script>\n</body>\n</html>\n", shell::script()))?;
        self.out.flush()?;
        Ok((self.out, self.written))
    }

    fn streams(&self) -> Vec<Value> {
        let streams: BTreeSet<u32> = self.steps.all().iter().map(|step| step.stream).collect();
        let named = streams.into_iter().map(|stream| {
            let [client, server] = self.steps.participants.names(stream);
            json!({"stream": stream, "client": client, "server": server})
        });
        named.collect()
    }

    fn findings(&self, checked: &Checked) -> Vec<Value> {
        // Findings about events that are not selected are left out.
        let has_place =
            |found: &&Located| found.finding.seq.is_none_or(|seq| self.columns.seq.binary_search(&seq).is_ok());
        checked.findings.iter().filter(has_place).take(MAX_FINDINGS).map(|found| self.finding(found)).collect()
    }

    fn finding(&self, found: &Located) -> Value {
        let (finding, rule) = (&found.finding, found.finding.rule);
        let row = finding.seq.and_then(|seq| self.columns.seq.binary_search(&seq).ok());
        json!({
            "row": row.map_or(-1, |row| row as i64), "rule": rule.id, "severity": found.severity.name(), "text": rule.text,
            "source": rule.source, "fix": rule.fix, "seen": masked(&finding.seen), "path": finding.path,
            "excuse": found.standing.excuse(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{EventHeader, Flags, MessageHeader};
    use crate::wire::{Envelope, Framing};
    use flate2::read::GzDecoder;
    use std::io::Read;

    /// Texts that mean something to HTML, to scripts and to a screen.
    const HOSTILE: &str = r#"</script><script>alert(1)</script><img src=x onerror=alert(2)>"#;

    fn page(title: &str, messages: &[String]) -> String {
        let mut page = SessionPage::begin(Vec::new(), title, Registry::built_in()).expect("a Vec takes all");
        let methods: Vec<Box<str>> = vec![HOSTILE.into()];
        for (seq, text) in (0..).zip(messages) {
            let message = MessageHeader { kind: Envelope::scan(text.as_bytes()).kind, method: Some(0), id: None };
            let (kind, flags, framing) = (EventKind::Message, Flags::default(), Framing::Lf);
            let len = u32::try_from(text.len()).expect("short");
            let message = Some(message);
            let header =
                EventHeader { seq, time: 0, stream: 1, exchange: 0, kind, flags, framing, len, offset: 0, message };
            page.take(&Event { header: &header, payload: text.as_bytes() }, &methods, true).expect("a Vec takes all");
        }
        let checked = Checked::default();
        let summary =
            Summary { created: "today".into(), redacted: true, damaged: false, checked: &checked, turns: Vec::new() };
        String::from_utf8(page.finish(summary).expect("a Vec takes all").0).expect("text")
    }

    /// The data in the element with this id.
    fn data(page: &str, id: &str) -> Vec<u8> {
        let start = page.find(&format!("id=\"{id}\">")).expect(id) + id.len() + 6;
        let text = page[start..].split('<').next().expect("data");
        let mut out = Vec::new();
        GzDecoder::new(&STANDARD.decode(text).expect("base64")[..]).read_to_end(&mut out).expect("gzip");
        out
    }

    #[test]
    fn nothing_of_a_session_is_markup_and_every_byte_is_there() {
        let call = json!({"id": 1, "method": HOSTILE, "params": {"name": HOSTILE}}).to_string();
        let page = page(HOSTILE, &[call.clone(), format!("\"{HOSTILE}\n")]);
        assert!(!page.contains("<img") && !page.contains("alert(1)</script>"));
        assert_eq!(data(&page, "block-0"), format!("{call}\"{HOSTILE}\n").into_bytes());
        let index: Value = serde_json::from_slice(&data(&page, "index")).expect("JSON");
        assert_eq!(index["columns"]["start"], json!([0, call.len()]));
        let kind = index["columns"]["kind"][0].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a place");
        assert_eq!((&index["texts"][kind], &index["redacted"]), (&json!("request"), &json!(true)));
        assert!(index["texts"].as_array().expect("a list").contains(&HOSTILE.into()));
    }

    #[test]
    fn long_sessions_are_in_several_blocks() {
        let line = format!("{{\"method\":\"x\",\"params\":\"{}\"}}", "y".repeat(1000));
        let page = page("long", &vec![line.clone(); 600]);
        assert_eq!(page.matches("<script type=\"application/octet-stream\" id=\"block-").count(), 3);
        let all: usize = (0..3).map(|number| data(&page, &format!("block-{number}")).len()).sum();
        assert_eq!(all, line.len() * 600);
    }

    #[test]
    fn webhook_secrets_are_hidden_in_data_and_index() {
        let page = page("t", &[r#"{"method":"x","params":{"s":"whsec_MDEyMzQ1"}}"#.into(), "whsec_MDEyMzQ1".into()]);
        for id in ["block-0", "index"] {
            let text = String::from_utf8(data(&page, id)).expect("text");
            assert!(!text.contains("MDEyMzQ1") && text.contains("whsec_"), "{id}: {text}");
        }
    }
}
