//! HTML pages with the real binary: what is in them, what never is, and that they are redacted.

use crate::common::{Stage, message};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;

/// Texts that mean something to HTML and to scripts.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{1b}[31m\u{202e}";
const TOKEN: &str = "ghp_Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";

fn stage() -> Stage {
    let stage = Stage::new();
    let params = json!({"clientInfo": {"name": HOSTILE}, "protocolVersion": "2025-11-25", "capabilities": {}});
    let call = json!({"name": HOSTILE, "arguments": {"token": TOKEN, HOSTILE: HOSTILE}});
    stage.reel(
        "a.reel",
        &[
            message(0, "c2s", json!({"jsonrpc": "2.0", "id": HOSTILE, "method": "initialize", "params": params})),
            message(1, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})),
            message(5, "s2c", json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": HOSTILE}})),
        ],
    );
    stage
}

/// The data in the element with this id.
fn data(page: &str, id: &str) -> Vec<u8> {
    let start = page.find(&format!("id=\"{id}\">")).expect(id) + id.len() + 6;
    let text = page[start..].split('<').next().expect("data");
    let mut out = Vec::new();
    GzDecoder::new(&STANDARD.decode(text).expect("base64")[..]).read_to_end(&mut out).expect("gzip");
    out
}

#[test]
fn a_page_is_redacted_has_the_findings_and_no_markup_of_strangers() {
    let stage = stage();
    let output = stage.ok(&["export", "--format", "html", "a.reel", "-o", "a.html"]);
    let said = "3 events of a.reel in a.html; secrets are replaced, but read it before you share it";
    assert_eq!(output.err(), format!("mcpreel: {said}\n"));
    let page = String::from_utf8(stage.read("a.html")).expect("text");
    assert!(!page.contains("<img") && !page.contains("alert(1)"), "only in the data");
    assert!(
        page.contains("default-src 'none'; script-src 'sha256-") && !page.contains("http://") && !page.contains("src=")
    );
    let block = String::from_utf8(data(&page, "block-0")).expect("text");
    assert!(block.contains("onerror=alert(2)") && !block.contains(TOKEN) && block.contains("redacted"), "{block}");
    let index: Value = serde_json::from_slice(&data(&page, "index")).expect("JSON");
    assert_eq!((&index["redacted"], &index["columns"]["asked"]), (&json!(true), &json!([-1, -1, 1])));
    let findings = index["findings"].as_array().expect("a list");
    assert!(findings.iter().any(|found| found["rule"] == "schema/params" && found["row"] == 0), "{findings:?}");
}

#[test]
fn secrets_stay_on_request_and_nothing_is_overwritten() {
    let stage = stage();
    let output = stage.ok(&["export", "--format", "html", "a.reel", "--no-redact", "-o", "a.html"]);
    assert!(output.err().contains("possible secret"), "{}", output.err());
    let page = String::from_utf8(stage.read("a.html")).expect("text");
    assert!(String::from_utf8_lossy(&data(&page, "block-0")).contains(TOKEN));
    assert_eq!(stage.run(&["export", "--format", "html", "a.reel", "-o", "a.html"], "").code(), 2);
    let over = stage.run(&["export", "--format", "html", "a.reel", "-o", "a.reel", "--force"], "");
    assert!(over.code() == 2 && over.err().contains("is the input itself"), "{over:?}");
    assert_eq!(stage.run(&["export", "a.reel", "--redact", "--no-redact"], "").code(), 2);
}

#[test]
fn a_page_of_two_recordings_has_no_script_and_no_secret() {
    let stage = stage();
    let lines = stage.run(&["export", "a.reel"], "").out();
    stage.import("b.reel", lines.replace("\"code\":1", "\"code\":2"));
    let output = stage.run(&["diff", "a.reel", "b.reel", "--format", "html"], "");
    assert_eq!(output.code(), 1);
    let page = output.out();
    assert!(page.contains("script-src 'none'") && !page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(page.contains("/error/code"), "{page}");
    assert!(page.contains("<div class=\"removed\">1</div><div class=\"added\">2</div>"), "{page}");
    assert!(page.ends_with("</html>\n") && !page.contains(TOKEN) && !page.contains('\u{1b}'));
    for words in [&["--surface"][..], &["--rules"]] {
        let all = [&["diff", "a.reel", "b.reel", "--format", "html"], words].concat();
        assert_eq!(stage.run(&all, "").code(), 2, "{words:?}");
    }
}
