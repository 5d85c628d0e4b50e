//! `export --to`: sends spans and metrics to a collector.

use super::ExportArgs;
use crate::cli::Context;
use crate::cli::printer::note;
use crate::cli::telemetry::{self, Place, signal};
use crate::error::{CommandError, ErrorKind};
use crate::formats::Exporter;
use crate::formats::otlp::{self, Batch, Encoding, Telemetry};
use crate::runtime::collector::{Collector, Patience};
use crate::trace::{Event, EventHeader, FileHeader};
use crate::wire::text::counted;
use std::io::{self, Write};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a request is tried again.
const PATIENCE: Patience = Patience { total: Duration::from_secs(60), awaits: false, report: Some(note) };

/// An exporter that writes nothing.
pub(super) struct Sending {
    telemetry: Telemetry,
    link: Link,
}

/// The collector, and what became of what was sent.
struct Link {
    collector: Collector,
    runtime: Runtime,
    /// The number of spans, and whether there were metrics.
    sent: (u64, u64),
    rejected: u64,
    /// What the collector said about the last rejection.
    words: String,
    failure: Option<CommandError>,
}

impl Sending {
    /// Prepares to send in the format's encoding.
    ///
    /// # Errors
    ///
    /// The format cannot be sent, or a setting is not valid.
    pub(super) fn new(args: &ExportArgs, place: &Place) -> Result<Self, CommandError> {
        let encoding = match args.format.as_deref() {
            None => telemetry::encoding()?,
            Some("otlp") => Encoding::Json,
            Some("otlp-proto") => Encoding::Protobuf,
            Some(other) => {
                return Err(CommandError::usage(format!("--format {other} cannot be sent to a collector"))
                    .hint("use otlp (JSON) or otlp-proto (protobuf, the default)"));
            }
        };
        let collector = args.telemetry.collector(place, encoding)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
        let telemetry = Telemetry::new(args.telemetry.settings(true, false), encoding);
        let link = Link { collector, runtime, sent: (0, 0), rejected: 0, words: String::new(), failure: None };
        Ok(Self { telemetry, link })
    }

    /// Reports what was sent. Returns whether the collector accepted all of it.
    ///
    /// # Errors
    ///
    /// Sending failed, or what was `exported` cannot be read.
    pub(super) fn finish(self, exported: Result<(), CommandError>, context: &Context) -> Result<bool, CommandError> {
        let Link { collector, sent, rejected, words, failure, .. } = self.link;
        let place = collector.place();
        let (spans, metrics) = (counted(sent.0, "span"), counted(sent.1, "metric"));
        if let Some(error) = failure {
            if sent.0 > 0 {
                context.printer.note(&format!("{spans} sent to {place} before that"));
            }
            return Err(error);
        }
        exported?;
        context.printer.note(&format!("{spans} and {metrics} sent to {place}"));
        if rejected > 0 {
            let why = if words.is_empty() { String::new() } else { format!(": {words}") };
            context.printer.note(&format!("the collector rejected {rejected} of them{why}"));
        } else if !words.is_empty() {
            context.printer.note(&format!("the collector accepted everything, but says: {words}"));
        }
        Ok(rejected == 0)
    }

    fn due(&mut self, all: bool) -> io::Result<()> {
        while let Some(batch) = self.telemetry.spans(all) {
            self.link.send(Some(batch))?;
        }
        Ok(())
    }
}

impl Link {
    fn send(&mut self, batch: Option<Batch>) -> io::Result<()> {
        let Some(batch) = batch.filter(|batch| self.collector.takes(signal(batch.signal))) else { return Ok(()) };
        match self.runtime.block_on(self.collector.send(signal(batch.signal), &batch.body, PATIENCE)) {
            Ok(accepted) => {
                let sent = if batch.signal == otlp::Signal::Traces { &mut self.sent.0 } else { &mut self.sent.1 };
                *sent += batch.items;
                self.rejected += accepted.rejected;
                if !accepted.words.is_empty() {
                    self.words = accepted.words;
                }
                Ok(())
            }
            Err(error) => {
                let failed = io::Error::other(error.message.clone());
                self.failure = Some(error);
                Err(failed)
            }
        }
    }
}

impl Exporter for Sending {
    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().begin(header, out)
    }

    fn event(&mut self, event: &Event<'_>, _out: &mut dyn Write) -> io::Result<()> {
        let Self { telemetry, link } = self;
        telemetry.event(event, &mut |batch| link.send(Some(batch)))
    }

    fn part(&mut self, header: &EventHeader, part: &[u8], is_last: bool, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().part(header, part, is_last, out)?;
        self.due(false)
    }

    fn pass_over(&mut self, event: &Event<'_>) {
        self.telemetry.exporter().pass_over(event);
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.telemetry.exporter().end(out)?;
        self.due(true)?;
        let metrics = self.telemetry.metrics();
        self.link.send(metrics)
    }
}
