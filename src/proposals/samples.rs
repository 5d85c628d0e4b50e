//! Specimens: one example of all that a proposal lets a server declare and send, to be tried on clients.

use serde::Deserialize;
use serde_json::Value;

/// A room's specimens, as they stand in its `samples.json`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Samples {
    /// A server's declaration, which fits at each of the proposal's places.
    #[serde(default)]
    pub capability: Option<Value>,
    /// Messages of a server, in the order in which they make sense.
    #[serde(default)]
    pub messages: Vec<Sample>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Sample {
    /// Its method: one of the proposal's, or one of MCP's that carries something for the proposal.
    pub method: String,
    /// Its params.
    pub params: Value,
}

impl Samples {
    /// Reads a room's; none where the text is not what it should be, which a test sees.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::proposals::{REGISTRY, Side};
    use crate::protocol::Sender;

    #[test]
    fn each_proposal_has_one_of_all_that_a_server_may_say_and_they_fit() {
        for proposal in REGISTRY {
            let (descriptor, samples) = (proposal.descriptor(), proposal.samples());
            if descriptor.places.iter().any(|place| place.side == Side::Server) {
                let declared = samples.capability.expect("a declaration");
                assert_eq!(descriptor.schemas.check("capability:server", &declared), Some(vec![]));
                let ours = descriptor.places.iter().filter(|place| place.side == Side::Server);
                assert!(ours.into_iter().all(|place| (place.is_ours)(&declared)), "{}", descriptor.name);
            }
            for spec in descriptor.methods.iter().filter(|spec| spec.sender != Sender::Client) {
                assert!(samples.messages.iter().any(|it| it.method == spec.name), "no specimen of {}", spec.name);
            }
            for sample in &samples.messages {
                let violations = descriptor.schemas.check(&format!("{}:params", sample.method), &sample.params);
                let spec = crate::proposals::method_spec(&sample.method).expect("a known method");
                assert_ne!(spec.sender, Sender::Client, "{}", sample.method);
                let is_own = descriptor.methods.iter().any(|own| own.name == spec.name);
                assert_eq!(violations, is_own.then(Vec::new), "{}", sample.method);
            }
        }
    }
}
