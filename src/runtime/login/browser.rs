//! Brings the user to a login page.

use crate::error::Notices;
use std::process::Stdio;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// The environment variable with a token of the user's own.
const TOKEN: &str = "MCPREEL_TOKEN";
/// A browser that fails later than this has probably shown the page.
const START_TIME: Duration = Duration::from_secs(10);

/// How the user gets to a login page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    /// mcpreel prints the URL.
    Print,
    /// mcpreel starts this program with the URL: its words, in which `%s` stands for the URL if there is one.
    Program(Vec<String>),
}

impl Default for Browser {
    /// The first program of `BROWSER` (a list with colons), else the desktop's.
    fn default() -> Self {
        let named = std::env::var("BROWSER").ok();
        let words = named.as_deref().and_then(|list| words(list.split(':').next().unwrap_or_default()));
        Self::Program(words.unwrap_or_else(|| vec!["xdg-open".to_owned()]))
    }
}

impl Browser {
    /// The program that the user names.
    ///
    /// # Errors
    ///
    /// It is empty, or a quote in it is not closed.
    pub(crate) fn named(program: &str) -> Result<Self, String> {
        words(program).map(Self::Program).ok_or_else(|| "expected a program, with its quotes closed".to_owned())
    }

    /// Brings the user to the login page of this authorization server. The URL is printed in any case, because a
    /// browser may start and show nothing. It contains no secret: the verifier's hash and a `state` that counts once.
    /// `hidden` are environment variables that the browser must not get.
    pub(super) fn show(&self, (issuer, url): (&str, &Url), hidden: &[String], notices: Notices) {
        let problem = match self {
            Self::Print => None,
            Self::Program(words) => Some(start(&line(words, url), hidden, notices).err()),
        };
        let text = match problem {
            None => format!("to log in at {issuer}, open {url}"),
            Some(None) => format!("log in at {issuer} in your browser; if it does not open the page, open {url}"),
            Some(Some(why)) => format!("cannot start a browser ({why}); to log in at {issuer}, open {url}"),
        };
        (notices.warn)(&text);
    }
}

fn words(text: &str) -> Option<Vec<String>> {
    shlex::split(text).filter(|words| !words.is_empty())
}

/// The command line for a URL.
fn line(words: &[String], url: &Url) -> Vec<String> {
    let mut line: Vec<String> = words.iter().map(|word| word.replace("%s", url.as_str())).collect();
    if line == words {
        line.push(url.to_string());
    }
    line
}

/// Starts a program that has nothing to do with our streams: stdout may belong to a client.
fn start(line: &[String], hidden: &[String], notices: Notices) -> Result<(), String> {
    let (program, arguments) = line.split_first().ok_or("no program")?;
    let mut command = tokio::process::Command::new(program);
    for name in hidden.iter().map(String::as_str).chain([TOKEN]) {
        command.env_remove(name);
    }
    let mut child = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let program = program.clone();
    tokio::spawn(async move {
        if let Ok(Ok(status)) = timeout(START_TIME, child.wait()).await
            && !status.success()
        {
            (notices.warn)(&format!("the browser {program} failed ({status}); open the address above yourself"));
        }
        child.wait().await
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_takes_its_place_in_the_command_line_or_the_last() {
        let url = Url::parse("https://auth/authorize?a=b&c=d%20e").expect("a URL");
        let shown = |text: &str| line(&words(text).expect("words"), &url).join("|");
        assert_eq!(shown("firefox --new-window"), format!("firefox|--new-window|{url}"));
        assert_eq!(shown("'my browser' --url=%s -x"), format!("my browser|--url={url}|-x"));
        for none in ["", "  ", "'open"] {
            assert!(Browser::named(none).is_err(), "{none:?}");
        }
    }
}
