//! The lines of `--say` and `--do`, in the order of the command line.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

const SAY: &str = "say";
const DO: &str = "doing";

/// What the options have the user say and do.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The lines, as if they had been typed.
    pub lines: Vec<String>,
}

impl Args for Script {
    fn augment_args(command: Command) -> Command {
        let say = Arg::new(SAY).long("say").value_name("TEXT").help("Say this as the user (repeatable)");
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
        let said = given(SAY).into_iter().map(|(at, text)| (at, format!("/turn {text}")));
        let mut lines: Vec<(usize, String)> = said.chain(given(DO)).collect();
        lines.sort_by_key(|(at, _)| *at);
        Ok(Self { lines: lines.into_iter().map(|(_, line)| line).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
