//! Heads of requests to a listener: what it lets in names this machine, as browsers read it, and comes from no other site.
#![no_main]

use hyper::http::Request;
use hyper::http::request::Parts;
use libfuzzer_sys::fuzz_target;
use mcpreel::testing::transport::listen::origin_check::Access;
use url::{Host, Url};

fuzz_target!(|data: &[u8]| {
    let Some(head) = head(data) else { return };
    if Access::default().check(&head).is_err() {
        return;
    }
    let host = only(&head, "host").expect("a request has a Host");
    let url = Url::parse(&format!("http://{host}/")).expect("a host");
    assert!(is_allowed(&url), "{host}");
    if let Some(target) = head.uri.authority() {
        let target = Url::parse(&format!("http://{target}/")).expect("a target");
        assert!(is_allowed(&target) && name(&target) == name(&url), "{target} {host}");
    }
    match only(&head, "origin") {
        Some(origin) => {
            let from = Url::parse(&origin).expect("an origin");
            assert!(is_local(&from) || name(&from) == name(&url), "{origin} {host}");
        }
        None => {
            let mut sites = head.headers.get_all("sec-fetch-site").iter();
            assert!(sites.all(|site| !site.as_bytes().eq_ignore_ascii_case(b"cross-site")));
        }
    }
});

/// A head with a target in the first line, and a header in each of the others.
fn head(data: &[u8]) -> Option<Parts> {
    let mut lines = data.split(|byte| *byte == b'\n');
    let mut request = Request::builder().uri(lines.next()?);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    Some(request.body(()).ok()?.into_parts().0)
}

/// The value of a header, which occurs at most once.
fn only(head: &Parts, name: &str) -> Option<String> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    assert!(values.next().is_none(), "two headers {name}");
    value
}

fn is_allowed(url: &Url) -> bool {
    is_local(url) || !matches!(url.host(), None | Some(Host::Domain(_)))
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(_)) => name(url) == "localhost" || name(url).ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The host's name in lower case, which is also what counts where a URL keeps its letters.
fn name(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase()
}
