//! Negotiation: which version to request, and what the responses mean.
//!
//! Never: state, time.

use super::EraChoice;
use crate::protocol::errors;
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision};
use crate::wire::{Envelope, MessageKind, json as text};
use serde_json::Value;

/// What client and server agreed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Handshake {
    /// The era.
    pub era: Era,
    /// The revision, if this crate knows the version.
    pub revision: Option<Revision>,
    /// The version as on the wire.
    pub version_text: String,
    /// The server's `capabilities` as on the wire; `Null` if there are none.
    pub server_capabilities: Value,
    /// The server's name and version as on the wire; `Null` if there are none.
    pub server_info: Value,
    /// The server's instructions for the model.
    pub instructions: Option<String>,
    /// Anything unusual, as sentences.
    pub notes: Vec<String>,
}

impl Handshake {
    /// Reads the result of `initialize` or `server/discover`; `Null` if the server gave none.
    pub fn read(era: Era, version_text: String, result: &Value, notes: Vec<String>) -> Self {
        let info = match era {
            Era::Legacy => &result["serverInfo"],
            Era::Modern => &result["_meta"][meta::SERVER_INFO],
        };
        Self {
            era,
            revision: Revision::parse(&version_text),
            version_text,
            server_capabilities: result["capabilities"].clone(),
            server_info: info.clone(),
            instructions: result["instructions"].as_str().map(str::to_owned),
            notes,
        }
    }
}

/// The version to probe for with `server/discover`, or `None` to send `initialize` at once. A legacy version that the
/// caller requests needs no probe.
pub(super) fn probe_version(choice: EraChoice, wanted: Option<&str>) -> Option<String> {
    let newest = Revision::NEWEST.as_str();
    match choice {
        EraChoice::Legacy | EraChoice::Handshake => None,
        EraChoice::Modern => Some(wanted.unwrap_or(newest).to_owned()),
        EraChoice::Auto => {
            let version = wanted.unwrap_or(newest);
            (Era::of_version(version) == Era::Modern).then(|| version.to_owned())
        }
    }
}

/// The version to request with `initialize`.
pub(super) fn legacy_version(choice: EraChoice, wanted: Option<&str>) -> String {
    let usable = wanted.filter(|version| choice == EraChoice::Legacy || Era::of_version(version) == Era::Legacy);
    usable.unwrap_or(Revision::NEWEST_LEGACY.as_str()).to_owned()
}

/// What the response to `server/discover` means (MCP 2026-07-28, Transports, dual-era clients).
#[derive(Debug, PartialEq)]
pub(super) enum Probed {
    /// The modern era, with this version and this result.
    Modern { version: String, result: Value, note: Option<String> },
    /// The modern era, but the probe must be repeated with this version.
    Again { version: String },
    /// Apparently a server of the legacy era.
    Legacy { why: String },
    /// There is no common version.
    Nothing { reason: String },
}

/// Reads the response to a probe for version `requested`.
pub(super) fn read_probe(envelope: &Envelope<'_>, requested: &str) -> Probed {
    let content: Value = envelope.content().map(text::value_of).unwrap_or_default();
    match envelope.kind {
        MessageKind::Result => match versions(&content["supportedVersions"]) {
            Some(supported) => match agree(requested, &supported) {
                Ok(version) => Probed::Modern { version, result: content, note: None },
                Err(otherwise) => otherwise,
            },
            None => Probed::Legacy { why: "the server answered server/discover without supportedVersions".to_owned() },
        },
        _ => read_probe_error(&content, requested),
    }
}

fn read_probe_error(error: &Value, requested: &str) -> Probed {
    let reported = describe_error(error);
    match error["code"].as_i64() {
        Some(code) if errors::reports_modern_era(code) => {}
        _ => return Probed::Legacy { why: format!("the server answered server/discover with {reported}") },
    }
    let version = match versions(&error["data"]["supported"]) {
        None => requested.to_owned(),
        Some(supported) => match agree(requested, &supported) {
            Ok(version) => version,
            Err(otherwise) => return otherwise,
        },
    };
    if version != requested {
        return Probed::Again { version };
    }
    let note = format!("the server answered server/discover with {reported}, so its capabilities are unknown");
    Probed::Modern { version, result: Value::Null, note: Some(note) }
}

fn versions(list: &Value) -> Option<Vec<&str>> {
    Some(list.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// The requested version if the server supports it, else the newest modern one that both support.
fn agree(requested: &str, supported: &[&str]) -> Result<String, Probed> {
    if supported.contains(&requested) {
        return Ok(requested.to_owned());
    }
    let known = || supported.iter().filter_map(|version| Revision::parse(version));
    if let Some(newest) = known().filter(|revision| revision.era() == Era::Modern).max() {
        return Ok(newest.as_str().to_owned());
    }
    let list = if supported.is_empty() { "none".to_owned() } else { supported.join(", ") };
    let reported = format!("the server supports these versions: {list}");
    match known().next() {
        Some(_) => Err(Probed::Legacy { why: reported }),
        None => Err(Probed::Nothing { reason: format!("{reported}; mcpreel knows none of them") }),
    }
}

/// Describes an error object in words.
pub(super) fn describe_error(error: &Value) -> String {
    let code = error["code"].as_i64();
    let meaning = code.and_then(errors::name).unwrap_or("no message");
    let text = error["message"].as_str().filter(|text| !text.is_empty()).unwrap_or(meaning);
    match code {
        Some(code) => format!("error {code} ({text})"),
        None => format!("an error without a code ({text})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(text: &str) -> Probed {
        read_probe(&Envelope::scan(text.as_bytes()), "2026-07-28")
    }

    #[test]
    fn x11_a_probe_reports_the_era() {
        assert!(matches!(probe(r#"{"id":1,"error":{"code":-32601,"message":"no"}}"#), Probed::Legacy { .. }));
        assert!(matches!(probe(r#"{"id":1,"result":{"tools":[]}}"#), Probed::Legacy { .. }));
        assert!(matches!(probe(r#"{"id":1,"error":"odd"}"#), Probed::Legacy { .. }));
        let modern = probe(r#"{"id":1,"result":{"supportedVersions":["2027-01-01","2026-07-28"]}}"#);
        assert!(matches!(modern, Probed::Modern { version, .. } if version == "2026-07-28"));
        let dual = probe(r#"{"id":1,"error":{"code":-32022,"data":{"supported":["2025-11-25"]}}}"#);
        assert!(matches!(dual, Probed::Legacy { .. }));
        let ahead = probe(r#"{"id":1,"error":{"code":-32022,"data":{"supported":["2030-01-01"]}}}"#);
        assert!(matches!(ahead, Probed::Nothing { reason } if reason.contains("2030-01-01")));
        let header = probe(r#"{"id":1,"error":{"code":-32020,"message":"header"}}"#);
        assert!(matches!(header, Probed::Modern { note: Some(_), .. }));
    }

    #[test]
    fn x11_the_version_asked_for_decides_whether_to_probe() {
        assert_eq!(probe_version(EraChoice::Auto, None).as_deref(), Some("2026-07-28"));
        assert_eq!(probe_version(EraChoice::Auto, Some("2025-06-18")), None);
        assert_eq!(probe_version(EraChoice::Handshake, None), None);
        assert_eq!(probe_version(EraChoice::Modern, Some("1900-01-01")).as_deref(), Some("1900-01-01"));
        assert_eq!(legacy_version(EraChoice::Auto, Some("2026-07-28")), "2025-11-25");
        assert_eq!(legacy_version(EraChoice::Legacy, Some("2099-01-01")), "2099-01-01");
    }
}
