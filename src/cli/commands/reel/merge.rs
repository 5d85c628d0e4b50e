//! `reel merge`: writes several reels as one.

use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::Output;
use crate::files::reels;
use crate::record::recording;
use crate::share::{Merge, Source};
use crate::trace::{Block, Item, ReelReader, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use std::path::{Path, PathBuf};

/// The most reels that are merged at a time: each needs memory for a block.
const MAX_REELS: usize = 256;

/// Write several reels as one, in the order of time. Each session keeps a stream of its own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel merge client.reel server.reel -o both.reel
  mcpreel reel merge *.reel -o all.reel && mcpreel show all.reel stream:2")]
pub(crate) struct MergeArgs {
    /// The reels.
    #[arg(required = true, num_args = 2..)]
    reels: Vec<PathBuf>,
    /// Write to this file; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// One of the reels, while it is read.
struct Lane {
    reader: ReelReader,
    path: PathBuf,
    block: Option<Block>,
    /// The place of the next event in the block.
    next: usize,
}

impl Lane {
    fn open(path: &Path) -> Result<Self, CommandError> {
        let (reader, path) = reels::open_whole(Some(path), note)?;
        let mut lane = Self { reader: reader.in_pieces().with_payloads(), path, block: None, next: 0 };
        lane.fill()?;
        Ok(lane)
    }

    /// Reads on until there is an event, or the reel has ended.
    fn fill(&mut self) -> Result<(), CommandError> {
        while self.block.as_ref().is_none_or(|block| self.next >= block.headers.len()) {
            if let Some(block) = self.block.take() {
                self.reader.recycle(block);
            }
            self.next = 0;
            match self.reader.next().map_err(|error| CommandError::reading(&self.path, &error))? {
                None => return Ok(()),
                Some(Item::Damage(damage)) if damage.of_index || damage.at_end => note(&damage.to_string()),
                Some(Item::Damage(damage)) => {
                    let message = format!("{}: {damage}", self.path.display());
                    return Err(CommandError::new(ErrorKind::Input, message)
                        .hint("`mcpreel reel repair` writes an intact reel from what can be read"));
                }
                Some(Item::Block(block)) => self.block = Some(block),
            }
        }
        Ok(())
    }

    /// The time of the next event.
    fn time(&self) -> Option<i64> {
        self.block.as_ref()?.headers.get(self.next).map(|header| header.time)
    }
}

pub(super) fn run(args: &MergeArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.reels.len() > MAX_REELS {
        return Err(CommandError::usage(format!("at most {MAX_REELS} reels can be merged at a time"))
            .hint("merge some of them first"));
    }
    let mut lanes = args.reels.iter().map(|path| Lane::open(path)).collect::<Result<Vec<Lane>, CommandError>>()?;
    let sources = lanes.iter().map(|lane| Source {
        name: lane.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        header: lane.reader.header().clone(),
    });
    let mut merge = Merge::new(sources.collect());
    let writing = |error: std::io::Error| CommandError::writing(&args.output, &error);
    let out = Output::create(&args.output, args.force)?;
    let header = merge.header(&recording::header().tool);
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(writing)?;
    // Within a reel, the order stays, even where times are a little out of order.
    while let Some((_, number)) =
        lanes.iter().enumerate().filter_map(|(number, lane)| Some((merge.time(number, lane.time()?), number))).min()
    {
        let Some(lane) = lanes.get_mut(number) else { break };
        if let Some((block, header)) =
            lane.block.as_ref().and_then(|block| Some((block, block.headers.get(lane.next)?)))
        {
            writer.append(merge.event(number, header, block.event(header).payload)).map_err(writing)?;
        }
        lane.next += 1;
        lane.fill()?;
    }
    let events = writer.next_seq();
    let (out, _) = writer.finish().map_err(writing)?;
    out.finish()?;
    let (events, reels) = (counted(events, "event"), counted(args.reels.len() as u64, "reel"));
    context.printer.note(&format!("{events} of {reels} in {}", args.output.display()));
    Ok(Outcome::Clean)
}
