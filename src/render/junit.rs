//! Writes JUnit XML: one suite of test cases, for build servers.

use super::text::visible;
use std::fmt::{self, Write};
use std::time::Duration;

/// The outcome of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    /// It passed.
    Passed,
    /// It failed: a summary line, and the details.
    Failed(String, String),
    /// It was not run, and why.
    Skipped(String),
}

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// What was tested.
    pub name: String,
    /// The place: a file and line, or the group of a rule.
    pub class: String,
    /// Its outcome.
    pub outcome: CaseOutcome,
}

/// Writes a suite.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn suite(name: &str, took: Duration, cases: &[Case], out: &mut impl Write) -> fmt::Result {
    let failures = cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Failed(..))).count();
    let skipped = cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Skipped(_))).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, "<testsuites>")?;
    writeln!(
        out,
        r#"  <testsuite name="{}" tests="{}" failures="{failures}" errors="0" skipped="{skipped}" time="{:.6}">"#,
        escaped(name),
        cases.len(),
        took.as_secs_f64(),
    )?;
    for case in cases {
        write!(out, r#"    <testcase name="{}" classname="{}""#, escaped(&case.name), escaped(&case.class))?;
        match &case.outcome {
            CaseOutcome::Passed => writeln!(out, "/>")?,
            CaseOutcome::Failed(line, all) => {
                writeln!(out, ">")?;
                writeln!(out, r#"      <failure message="{}">{}</failure>"#, escaped(line), escaped(all))?;
                writeln!(out, "    </testcase>")?;
            }
            CaseOutcome::Skipped(why) => {
                writeln!(out, ">")?;
                writeln!(out, r#"      <skipped message="{}"/>"#, escaped(why))?;
                writeln!(out, "    </testcase>")?;
            }
        }
    }
    writeln!(out, "  </testsuite>")?;
    writeln!(out, "</testsuites>")
}

/// Escapes a text for XML. Characters that XML 1.0 does not allow become the replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other if other.is_control() => out.push('\u{fffd}'),
            // Escape characters that change the text direction, so that they do not affect the file.
            other if visible(other) != other => out.push_str(&format!("&#{};", u32::from(other))),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_counts_its_cases_and_escapes_their_texts() {
        let case = |name: &str, outcome| Case { name: name.to_owned(), class: "a.yaml:3".to_owned(), outcome };
        let cases = [
            case("x < \"y\"", CaseOutcome::Passed),
            case("no", CaseOutcome::Failed("it is & was".to_owned(), "two\nlines \u{1b}".to_owned())),
            case("later", CaseOutcome::Skipped("not reached".to_owned())),
        ];
        let mut out = String::new();
        suite("s", Duration::from_millis(1500), &cases, &mut out).expect("written");
        insta::assert_snapshot!(out, @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="s" tests="3" failures="1" errors="0" skipped="1" time="1.500000">
            <testcase name="x &lt; &quot;y&quot;" classname="a.yaml:3"/>
            <testcase name="no" classname="a.yaml:3">
              <failure message="it is &amp; was">two&#10;lines �</failure>
            </testcase>
            <testcase name="later" classname="a.yaml:3">
              <skipped message="not reached"/>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
