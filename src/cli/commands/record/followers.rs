//! What reads the reel while it is recorded: `--check` and `--otlp`.

use super::RecordArgs;
use super::check::Watch;
use super::otlp::Live;
use crate::cli::Context;
use crate::cli::telemetry::encoding;
use crate::error::CommandError;
use crate::formats::otlp::Telemetry;
use crate::record::recording::Recording;
use crate::runtime::collector::Collector;

/// What is needed to start them.
pub(super) struct Prepared(Option<(Telemetry, Collector)>);

impl Prepared {
    /// Checks the settings of the collector, before a reel is created.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(super) fn new(args: &RecordArgs) -> Result<Self, CommandError> {
        let Some(place) = &args.otlp else { return Ok(Self(None)) };
        let encoding = encoding()?;
        let collector = args.telemetry.collector(place, encoding)?;
        Ok(Self(Some((Telemetry::new(args.telemetry.settings(true, true), encoding), collector))))
    }

    /// Starts them.
    ///
    /// # Errors
    ///
    /// The reel goes to a pipe, or the settings file of the check is not valid.
    pub(super) fn start(
        self,
        args: &RecordArgs,
        recording: &Recording,
        context: &Context,
    ) -> Result<Followers, CommandError> {
        let check = Watch::start((args.check, args.keeping.redact), &args.packs, recording, context)?;
        let live = self.0.map(|prepared| Live::start(prepared, recording)).transpose()?;
        Ok(Followers { check, live })
    }
}

/// What follows the reel.
pub(super) struct Followers {
    check: Option<Watch>,
    live: Option<Live>,
}

impl Followers {
    /// Lets them read the reel to its end, after the recorder has finished.
    pub(super) fn finish(self) {
        self.check.into_iter().for_each(Watch::finish);
        self.live.into_iter().for_each(Live::finish);
    }
}
