//! The options of a check, on the command line and in `.mcpreel.toml`.

use crate::check::baseline::Baseline;
use crate::check::settings::{FailOn, Injected, Settings, ValidateSection};
use crate::cli::packs::PackOptions;
use crate::error::{CommandError, ErrorKind};
use crate::files::output;
use crate::files::text::{LARGE, read_text};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};

/// Which rules are checked, and what fails.
#[derive(Debug, Default, Args)]
pub(crate) struct CheckOptions {
    /// Exit with 1 if a finding is at least this severe (default: error).
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Check only these rules: names or patterns such as 'schema/*', separated by commas.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// Do not check these rules.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    skip: Option<Vec<String>>,
    /// What to do with findings in messages that mcpreel injected (default: report).
    #[arg(long, value_enum, value_name = "WHAT")]
    injected: Option<Injected>,
    /// Findings in this file are known and do not count, unless there are more of them than the file says. An entry is
    /// stale, and fails, if its rule was checked and nothing violates it.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    pub packs: PackOptions,
}

/// The options, ready for use.
pub(crate) struct Prepared {
    /// The settings of the check.
    pub settings: Settings,
    /// The known findings.
    pub baseline: Baseline,
    /// The file of the known findings, if there is one.
    pub baseline_file: Option<PathBuf>,
}

impl CheckOptions {
    /// No options but these packs.
    pub(crate) fn with(packs: &PackOptions) -> Self {
        Self { packs: packs.clone(), ..Self::default() }
    }

    /// Combines the options with the settings file, and reads the baseline. A baseline that is about to be written need
    /// not exist.
    ///
    /// # Errors
    ///
    /// A rule does not exist, or the baseline cannot be read.
    pub(crate) fn prepare(&self, section: ValidateSection, writes_baseline: bool) -> Result<Prepared, CommandError> {
        let wanted = ValidateSection {
            fail_on: self.fail_on.or(section.fail_on),
            only: self.only.clone().or(section.only),
            skip: self.skip.clone().or(section.skip),
            injected: self.injected.or(section.injected),
            baseline: self.baseline.clone().or(section.baseline),
            ..section
        };
        let settings = Settings::new(&wanted, self.packs.registry()?).map_err(|why| {
            CommandError::usage(why).hint("`mcpreel validate --rules` lists all rules; 'schema/*' stands for several")
        })?;
        let baseline = wanted.baseline.as_deref().map(|path| read(path, writes_baseline)).transpose()?;
        Ok(Prepared { settings, baseline: baseline.unwrap_or_default(), baseline_file: wanted.baseline })
    }
}

fn read(path: &Path, may_be_missing: bool) -> Result<Baseline, CommandError> {
    match read_text(path, LARGE) {
        Ok(text) => Baseline::read(&text).map_err(|why| {
            CommandError::new(ErrorKind::Input, format!("{}: {why}", path.display()))
                .hint("a baseline is written with --write-baseline")
        }),
        Err(error) if may_be_missing && error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        Err(error) => Err(CommandError::reading(path, &error)
            .hint("write it first: mcpreel validate REEL --baseline FILE --write-baseline")),
    }
}

/// Writes a baseline, in place of an earlier one.
///
/// # Errors
///
/// The file cannot be written.
pub(crate) fn write(path: &Path, baseline: &Baseline) -> Result<(), CommandError> {
    let mut out = output::Output::begin(path, true, output::SHARED)?;
    io::Write::write_all(&mut out, baseline.to_text().as_bytes())
        .map_err(|error| CommandError::writing(path, &error))?;
    out.finish()
}
