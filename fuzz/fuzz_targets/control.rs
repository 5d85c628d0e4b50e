//! Lines on the control socket of a live session: every line is answered with JSON, and the connection ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::sessions::answers::Answers;
use mcpreel::testing::sessions::control::{Control, FireReportCallback, InjectionProgress, Session};
use mcpreel::testing::sessions::sockets::connect;
use mcpreel::testing::wire::Direction;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

struct Echo;

impl Session for Echo {
    fn put(&self, _: Direction, stream: u32, message: &[u8], _: Instant) -> Result<InjectionProgress, String> {
        assert!(!message.contains(&b'\n'), "a message is one line");
        if stream > 7 { Err("there is none".to_owned()) } else { Ok(InjectionProgress::Written) }
    }

    fn fire(&self, _: u32, fired: Value, received: FireReportCallback) -> Result<(), String> {
        received(json!({"heard": fired}), true);
        Ok(())
    }
}

static SOCKET: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("mcpreel-fuzz-{}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).expect("a socket");
    let control = Control { recording: None, listener, info: Map::new(), warn: |_| {} };
    control.start(Arc::new(Echo), Arc::new(Answers::default()));
    path
});

fuzz_target!(|data: &[u8]| {
    let mut stream = connect(&SOCKET).expect("it listens");
    // A caller that was disconnected cannot write any more.
    let _ = stream.write_all(data).and_then(|()| stream.shutdown(Shutdown::Write));
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let reported: Value = serde_json::from_str(&line).expect("answers are JSON");
        assert!(reported.is_object());
    }
});
