//! The lines of `--say` and `--do`, in the order of the command line.

use crate::error::CommandError;
use crate::runtime::parameters::TextArgument;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

const SAY: &str = "say";
const DO: &str = "doing";

/// What the options have the user say and do.
#[derive(Debug, Default)]
pub(super) struct Script(Vec<Step>);

#[derive(Debug)]
enum Step {
    Say(TextArgument),
    Do(String),
}

impl Script {
    /// Whether there is no such option.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines, as if they had been typed.
    ///
    /// # Errors
    ///
    /// What to say cannot be read from its file or from stdin.
    pub(super) fn lines(&self) -> Result<Vec<String>, CommandError> {
        let line = |step: &Step| match step {
            Step::Say(text) => text.read().map(|text| format!("/turn {text}")),
            Step::Do(line) => Ok(line.clone()),
        };
        self.0.iter().map(line).collect()
    }
}

impl Args for Script {
    fn augment_args(command: Command) -> Command {
        let say = Arg::new(SAY)
            .long("say")
            .value_name("TEXT")
            .help("Say this as the user (repeatable): a text, @file, or - for stdin");
        let line = Arg::new(DO).long("do").value_name("LINE").help(
            "Run this line as if it had been typed (repeatable; --say and --do run in the order of the command line)",
        );
        command.args([say, line].map(|arg| arg.action(ArgAction::Append)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Script {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |id: &str| {
            let values = matches.get_many::<String>(id).into_iter().flatten().cloned();
            matches.indices_of(id).into_iter().flatten().zip(values).collect::<Vec<_>>()
        };
        let said = given(SAY).into_iter().map(|(at, text)| (at, Step::Say(text.into())));
        let mut steps: Vec<(usize, Step)> =
            said.chain(given(DO).into_iter().map(|(at, line)| (at, Step::Do(line)))).collect();
        steps.sort_by_key(|(at, _)| *at);
        Ok(Self(steps.into_iter().map(|(_, step)| step).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
