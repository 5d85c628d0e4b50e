//! The options for servers that require OAuth.

use super::Context;
use super::target::refuse;
use crate::error::CommandError;
use crate::runtime::login::{Browser, LoginSettings, UserLogin};
use crate::transport::Remote;
use clap::Args;

/// Whether and how to log in.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct LoginOptions {
    /// Log in to a server that requires OAuth, in your browser, unless you have done so before; `mcpreel logins` lists
    /// your logins.
    #[arg(long)]
    login: bool,
    #[command(flatten)]
    browser: BrowserOptions,
}

/// How the user gets to the login page.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct BrowserOptions {
    /// Print the address of the login page, rather than open it in a browser.
    #[arg(long, conflicts_with = "browser")]
    no_browser: bool,
    /// Open the login page with this program (default: $BROWSER, else xdg-open).
    #[arg(long, value_name = "PROGRAM", value_parser = Browser::named)]
    browser: Option<Browser>,
}

impl BrowserOptions {
    /// The browser that the options choose.
    pub(super) fn browser(&self) -> Browser {
        match &self.browser {
            _ if self.no_browser => Browser::Print,
            Some(browser) => browser.clone(),
            None => Browser::default(),
        }
    }

    /// The first of these options that is given.
    fn given(&self) -> Option<&'static str> {
        let given = [("--no-browser", self.no_browser), ("--browser", self.browser.is_some())];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }
}

impl LoginOptions {
    /// The first of these options that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        if self.login { Some("--login") } else { self.browser.given() }
    }

    /// Whether to log in.
    pub(super) fn is_wanted(&self) -> bool {
        self.login
    }

    /// The remote server with the user's login, if that is wanted. `secret_variables` are the environment variables that
    /// the command line names, which no browser gets.
    ///
    /// # Errors
    ///
    /// The options contradict each other, or there can be no login at this URL.
    pub(super) fn apply(
        &self,
        remote: Remote,
        secret_variables: Vec<String>,
        context: &Context,
    ) -> Result<Remote, CommandError> {
        if !self.login {
            let next = "add --login, or log in once with `mcpreel login URL`";
            return match self.browser.given() {
                Some(option) => Err(CommandError::usage(format!("{option} has no effect without --login")).hint(next)),
                None => Ok(remote),
            };
        }
        let own = remote.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        refuse(own.then_some("--login"), "a header `Authorization`", "the header already contains your credentials")?;
        let next = "a token would go to a server that nobody has verified; trust its certificate with --cacert FILE";
        refuse(remote.insecure.then_some("--login"), "--insecure", next)?;
        let settings = LoginSettings { browser: self.browser.browser(), secret_variables, ..LoginSettings::default() };
        let login = UserLogin::new(&remote, settings, context.notices())?.login();
        Ok(Remote { login: Some(login), ..remote })
    }
}

/// The seconds until a token expires, in words.
pub(super) fn remaining(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_has_a_unit_that_fits() {
        for (seconds, expected) in
            [(0, "0 s"), (119, "119 s"), (3600, "60 min"), (7200, "2 h"), (86_400, "24 h"), (172_800, "2 days")]
        {
            assert_eq!(remaining(seconds), expected);
        }
    }
}
