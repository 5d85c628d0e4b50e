//! The published scenario schema matches the types, the examples match it and pass, and a long conversation is the same
//! each time.

use crate::common::Stage;
use mcpreel::testing::host::engine::ModelReply;
use mcpreel::testing::proposals::{Registry, Severity};
use mcpreel::testing::runtime::simulate::{SimulationContext, simulate};
use mcpreel::testing::scenario::{self, Observation, Report, Scenario};
use mcpreel::testing::trace::{Event, EventHeader, EventKind, Flags};
use mcpreel::testing::validate::Reporter;
use mcpreel::testing::wire::Framing;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The scenarios in `examples/scenarios`, and those of the proposals' motivating stories.
fn examples() -> Vec<(PathBuf, String)> {
    let folder = |name: &str| std::fs::read_dir(root().join("examples").join(name)).expect("the examples' folder");
    let entries = folder("scenarios").chain(folder("stories"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("readable");
            (path, text)
        })
        .collect()
}

/// Plays a scenario in virtual time; returns the report, including the validator's, and all prompts as text.
fn play(text: &str) -> (Report, Vec<String>) {
    let scenario = Scenario::read(text).unwrap_or_else(|error| panic!("{error}"));
    let mut reporter = Reporter::new(Registry::built_in());
    let (mut prompts, mut seq) = (Vec::new(), 0);
    let mut observe = |now: Duration, seen: &Observation<'_>| match seen {
        Observation::Prompt(prompt) => prompts.push(prompt.to_value().to_string()),
        Observation::Message { server, direction, bytes } => {
            let header = EventHeader {
                seq,
                time: i64::try_from(now.as_nanos()).expect("a short time"),
                stream: u32::try_from(server.0).expect("few servers"),
                exchange: 0,
                kind: EventKind::Message,
                flags: Flags::toward(*direction),
                framing: Framing::Lf,
                len: u32::try_from(bytes.len()).expect("a short message"),
                offset: 0,
                message: None,
            };
            seq += 1;
            reporter.observe(&Event { header: &header, payload: bytes });
        }
        _ => {}
    };
    let around = SimulationContext {
        wall_base_ns: 1_700_000_000_000_000_000,
        model: &mut |prompt| Ok(ModelReply::echo(prompt)),
        observe: &mut observe,
    };
    let mut report = simulate(&scenario, around).unwrap_or_else(|error| panic!("{error}"));
    let findings = reporter.finish().findings;
    let errors = findings.iter().filter(|finding| finding.rule.severity == Severity::Error);
    let errors: Vec<String> = errors.map(|finding| format!("{}: {}", finding.rule.id, finding.seen)).collect();
    report.validated(&errors);
    (report, prompts)
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = root().join("docs/scenario.schema.json");
    let mut fresh = serde_json::to_string_pretty(&scenario::schema()).expect("JSON");
    fresh.push('\n');
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("writable");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    let remedy = "make it anew: REGENERATE=1 cargo test --test it scenarios::";
    assert!(published == fresh, "docs/scenario.schema.json is not the types' schema; {remedy}");
}

#[test]
fn every_example_fits_the_schema() {
    let schema = jsonschema::validator_for(&scenario::schema()).expect("a schema");
    let examples = examples();
    assert!(examples.len() >= 20, "{}", examples.len());
    let long = std::fs::read_to_string(root().join("benches/turns.yaml")).expect("readable");
    for (path, text) in examples.into_iter().chain([(PathBuf::from("benches/turns.yaml"), long)]) {
        let options = serde_saphyr::options! { strict_booleans: true };
        let value: Value = serde_saphyr::from_str_with_options(&text, options).expect("YAML");
        let violations: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(violations.is_empty(), "{}: {violations:#?}", path.display());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = jsonschema::validator_for(&scenario::schema()).expect("a schema");
    for text in [
        "seed: 1",
        "{name: x, steps: [{usr: hello}]}",
        "{name: x, steps: [{wait: soon}]}",
        "{name: x, clock: fast}",
        "{name: x, expect: [{message: {direction: up}}]}",
        "{name: x, servers: {a: {builtin: {declared: []}}}}",
    ] {
        let value: Value = serde_saphyr::from_str(text).expect("YAML");
        assert!(!schema.is_valid(&value), "the schema lets {text} through");
        assert!(Scenario::read(text).is_err(), "the reader lets {text} through");
    }
}

#[test]
fn every_example_passes() {
    for (path, text) in examples() {
        let (report, _) = play(&text);
        assert!(report.is_passed(), "{}: {:#}", path.display(), report.to_json());
        assert!(report.faults.iter().all(|fault| fault.hits > 0), "{}: {:?}", path.display(), report.faults);
    }
}

#[test]
fn each_story_passes_in_one_command() {
    let stage = Stage::new();
    for (path, _) in
        examples().iter().filter(|(path, _)| path.parent().is_some_and(|folder| folder.ends_with("stories")))
    {
        let played = stage.run(&["host", "--scenario", path.to_str().expect("a path")], "");
        assert!(played.code() == 0 && played.out().starts_with("passed "), "{}: {played:?}", path.display());
    }
}

#[test]
fn each_proposal_has_stories_and_their_table_names_them_all() {
    let readme = std::fs::read_to_string(root().join("docs/guide/scenarios.md")).expect("readable");
    let stories = std::fs::read_dir(root().join("examples/stories")).expect("the stories' folder");
    let stories: Vec<String> =
        stories.map(|story| story.expect("an entry").file_name().into_string().expect("a name")).collect();
    for story in &stories {
        assert!(readme.contains(&format!("`{story}`")), "docs/guide/scenarios.md does not name {story}");
    }
    for proposal in ["conversation", "reminder", "mcpl", "hooks", "mcpe"] {
        assert!(stories.iter().filter(|story| story.starts_with(&format!("{proposal}-"))).count() >= 2, "{proposal}");
    }
}

#[test]
fn the_documents_example_passes() {
    let document = std::fs::read_to_string(root().join("docs/scenarios.md")).expect("readable");
    let (_, rest) = document.split_once("```yaml\n").expect("an example");
    let (text, _) = rest.split_once("```").expect("its end");
    let (report, prompts) = play(text);
    assert!(report.is_passed() && prompts.len() == 1, "{:#}", report.to_json());
}

/// Plays `benches/turns.yaml` twice with as many turns; both must be the same.
fn turns_over_eight_servers(turns: usize) {
    let text = std::fs::read_to_string(root().join("benches/turns.yaml")).expect("readable");
    let text = text.replace("times: 1000", &format!("times: {turns}"));
    let (report, prompts) = play(&text);
    assert!(report.is_passed(), "{:#}", report.to_json());
    let (_, again) = play(&text);
    let differs = prompts.iter().zip(&again).position(|(one, other)| one != other);
    assert_eq!((differs, prompts.len(), again.len()), (None, turns, turns));
}

#[test]
fn two_hundred_turns_over_eight_servers_are_the_same_each_time() {
    turns_over_eight_servers(200);
}

#[test]
#[ignore = "takes more than a minute"]
fn a_thousand_turns_over_eight_servers_are_the_same_each_time() {
    turns_over_eight_servers(1000);
}

#[test]
fn a_thousand_turns_of_all_five_proposals_are_the_same_each_time_and_the_validator_finds_nothing() {
    let text = std::fs::read_to_string(root().join("benches/everything.yaml")).expect("readable");
    let (one, again) = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(&text));
        (play(&text), other.join().expect("played"))
    });
    assert!(one.0.is_passed(), "{:#}", one.0.to_json());
    let differs = one.1.iter().zip(&again.1).position(|(one, other)| one != other);
    assert_eq!((differs, one.1.len(), again.1.len()), (None, 1000, 1000));
}
