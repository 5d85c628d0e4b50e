//! Places where a secret can be: texts with `{}` for the secret, and the events that carry them.

use super::Reel;
use crate::trace::EventKind;
use crate::wire::Framing;
use ciborium::Value;

/// What carries a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Carrier {
    /// A text in a tool's result.
    Result,
    /// A text in a tool's arguments.
    Argument,
    /// Standard error.
    Stderr,
    /// The text is a value of JSON: arguments of a tool.
    Json,
    /// The same, in the data of a server-sent event.
    Sse,
    /// The name and the value of a header.
    Header,
    /// The target of an HTTP request.
    Target,
    /// The words of a command line, with a bar between them.
    Command,
    /// A user's note.
    Note,
}
use Carrier::{Argument, Command, Header, Json, Note, Result, Sse, Stderr, Target};

impl Carrier {
    /// Whether the text may be in any encoding.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Result | Argument | Stderr)
    }

    /// Makes an event of a text.
    pub(super) fn reel(self, text: &str) -> Reel {
        let json = |value: &serde_json::Value| value.to_string();
        let call = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"run","arguments":{arguments}}}}}"#
            )
        };
        let message =
            |text: String| Reel { kind: EventKind::Message, framing: Framing::Whole, payload: text.into_bytes() };
        let map = |kind, members: Vec<(&str, Value)>| {
            let members = members.into_iter().map(|(name, value)| (Value::from(name), value)).collect();
            let mut payload = Vec::new();
            ciborium::into_writer(&Value::Map(members), &mut payload).expect("a Vec");
            Reel { kind, framing: Framing::Whole, payload }
        };
        let request = |target: &str, headers: Vec<Value>| {
            let members: Vec<(&str, Value)> = vec![
                ("what", "request".into()),
                ("method", "POST".into()),
                ("target", target.into()),
                ("headers", Value::Array(headers)),
            ];
            map(EventKind::Transport, members)
        };
        let words = |text: &str| Value::Array(text.split('|').map(Value::from).collect());
        match self {
            Result => message(json(
                &serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}),
            )),
            Argument => message(call(&json(&serde_json::json!({ "text": text })))),
            Json => message(call(text)),
            Sse => {
                let block = format!("event: message\ndata: {}\n\n", call(text));
                Reel { framing: Framing::Sse, ..message(block) }
            }
            Stderr => Reel { kind: EventKind::Stderr, ..message(text.to_owned()) },
            Header => request("/mcp", vec![Value::Array(text.splitn(2, ": ").map(Value::from).collect())]),
            Target => request(text, Vec::new()),
            Command => map(EventKind::StreamOpened, vec![("transport", "stdio".into()), ("command", words(text))]),
            Note => map(EventKind::Note, vec![("text", text.into())]),
        }
    }
}

/// Places that say nothing about a secret, for tokens that are known by their shape.
pub(super) const BARE: &[(&str, Carrier, &str)] = &[
    ("text of a result", Result, "{}"),
    ("text of a result", Result, "I found this in the file:\n\n    {}\n\nShall we continue?"),
    ("text of a result", Argument, "please try {} instead, and see what happens"),
    ("line of standard error", Stderr, "2026-01-02T03:04:05Z WARN upstream said no to {} (attempt 2)\n"),
    ("line of standard error", Stderr, "worker started; got \"{}\"; retrying\n"),
    ("member of JSON", Json, r#"{"note":"{}","limit":3}"#),
    ("member of JSON", Json, r#"{"items":[1,"{}"],"limit":3}"#),
    ("name of a member", Json, r#"{"seen":{"{}":true},"limit":3}"#),
    ("server-sent event", Sse, r#"{"note":"{}","limit":3}"#),
    ("word of a command line", Command, "npx|-y|server-notes|{}"),
    ("header", Header, "x-forwarded-note: {}"),
    ("target of a request", Target, "/v1/items/{}/list"),
    ("note", Note, "ask Kim whether {} still works"),
];

/// Places that say that a value is a secret.
pub(super) const TELLING: &[(&str, Carrier, &str)] = &[
    ("member of JSON", Json, r#"{"user":"kim","password":"{}"}"#),
    ("member of JSON", Json, r#"{"apiKey":"{}","limit":3}"#),
    ("member of JSON", Json, r#"{"client_id":"notes","client_secret":"{}"}"#),
    ("member of JSON", Json, r#"{"auth":{"accessToken":"{}","expires_in":3600}}"#),
    ("member of JSON", Json, r#"{"refresh_token":"{}","token_type":"Bearer"}"#),
    ("member of JSON", Json, r#"{"db":{"host":"db.example.com","passwd":"{}"}}"#),
    ("member of JSON", Json, r#"{"name":"DB_PASSWORD","value":"{}"}"#),
    ("member of JSON", Sse, r#"{"secretKey":"{}","region":"eu"}"#),
    ("member of JSON", Json, r#"{"credentials":{"username":"kim","passphrase":"{}"}}"#),
    ("environment in JSON", Json, r#"{"command":"npx","env":{"DIFY_KEY":"{}"}}"#),
    ("environment in JSON", Json, r#"{"command":"npx","env":{"BRAVE_API_KEY":"{}"}}"#),
    ("environment in JSON", Json, r#"{"command":"npx","env":{"NOTES_KEY":"{}","LOG_LEVEL":"debug"}}"#),
    ("environment in JSON", Json, r#"{"env":["PATH=/usr/bin","SERVICE_TOKEN={}"]}"#),
    ("environment in JSON", Json, r#"{"env":{"AWS_SECRET_ACCESS_KEY":"{}","AWS_REGION":"eu-west-1"}}"#),
    ("headers in JSON", Json, r#"{"headers":{"Authorization":"Bearer {}","Accept":"*/*"}}"#),
    ("headers in JSON", Json, r#"{"headers":{"X-Api-Key":"{}"},"method":"GET"}"#),
    ("headers in JSON", Json, r#"{"headers":{"NOTES_KEY":"{}"},"method":"GET"}"#),
    ("headers in JSON", Json, r#"{"headers":[["X-Auth-Token","{}"]],"method":"GET"}"#),
    ("headers in JSON", Json, r#"{"headers":{"Cookie":"theme=dark; sessionid={}"},"method":"GET"}"#),
    ("header", Header, "authorization: Bearer {}"),
    ("header", Header, "authorization: token {}"),
    ("header", Header, "proxy-authorization: Bearer {}"),
    ("header", Header, "x-api-key: {}"),
    ("header", Header, "x-goog-api-key: {}"),
    ("header", Header, "private-token: {}"),
    ("header", Header, "cookie: theme=dark; sessionid={}"),
    ("header", Header, "set-cookie: sessionid={}; Path=/; HttpOnly"),
    (
        "header in a text",
        Result,
        "> GET /v1/me HTTP/1.1\n> Host: api.example.com\n> Authorization: Bearer {}\n> Accept: */*",
    ),
    ("header in a text", Stderr, "DEBUG request headers: {'X-API-KEY': '{}', 'Accept': 'text/plain'}\n"),
    ("header in a text", Result, "DEBUG: Using headers: {\"Content-Type\":\"application/json\",\"X-API-KEY\":\"{}\"}"),
    ("header in a text", Result, "HTTP/1.1 200 OK\nSet-Cookie: sid={}; Secure; SameSite=Lax\nContent-Length: 2"),
    ("target of a request", Target, "/v1/search?q=notes&api_key={}"),
    ("target of a request", Target, "/sse?access_token={}&page=2"),
    ("URL", Result, "fetch failed: https://api.example.com/v1/items?limit=3&token={}"),
    ("URL", Result, "redirected to http://localhost:3000/callback#access_token={}&token_type=bearer"),
    ("URL", Result, "cloning https://kim:{}@git.example.com/team/notes.git into notes"),
    ("URL", Result, "cloning https://{}@git.example.com/team/notes.git into notes"),
    ("URL", Stderr, "cannot reach postgres://app:{}@db.example.com:5432/notes?sslmode=require\n"),
    ("URL", Stderr, "connected to redis://:{}@cache.example.com:6379/0\n"),
    ("URL", Stderr, "amqp://guest:{}@queue.example.com:5672 refused the connection\n"),
    ("URL", Result, "using mongodb+srv://app:{}@cluster0.example.com/notes"),
    ("URL", Result, "jdbc:mysql://db.example.com:3306/notes?user=app&password={}"),
    ("URL", Json, r#"{"url":"https://api.example.com/?sig={}&sv=2026"}"#),
    ("URL, backslash-escaped", Result, r#"{"url":"https:\/\/kim:{}@git.example.com\/team\/notes.git"}"#),
    ("environment", Stderr, "MCP_API_KEY={} rejected by the upstream\n"),
    ("environment", Result, "export GITHUB_TOKEN={}\nnpm start"),
    ("environment", Result, "# .env\nPORT=3000\nDATABASE_PASSWORD={}\nDEBUG=1\n"),
    ("environment", Result, "setx OPENAI_API_KEY \"{}\""),
    ("environment", Result, "setx OPENAI_API_KEY {} /M"),
    ("environment", Result, "$env:NOTES_SECRET = '{}'; node server.js"),
    ("environment", Result, "docker run --rm -e NOTES_API_TOKEN={} notes:latest"),
    ("environment", Result, "FROM node:22\nENV NOTES_API_TOKEN {}\nCMD node server.js"),
    ("environment", Stderr, "env: { PATH: '/usr/bin', NOTES_PASSWORD: '{}' }\n"),
    ("flag of a command line", Command, "npx|-y|server-notes|--api-key|{}"),
    ("flag of a command line", Command, "node|server.js|--token={}|--port|3000"),
    ("flag of a command line", Command, "mcp-remote|https://mcp.example.com|--header|Authorization: Bearer {}"),
    ("flag of a command line", Command, "docker|run|-e|NOTES_TOKEN={}|notes"),
    ("flag of a command line", Result, "run: npx -y server-notes --api-key {} --verbose"),
    ("flag of a command line", Stderr, "Command failed: node server.js --password={} --port 3000\n"),
    ("flag of a command line", Result, "mysql -u root -p{} notes < dump.sql"),
    ("flag of a command line", Result, "sshpass -p {} ssh kim@host.example.com uptime"),
    ("flag of a command line", Result, "redis-cli -h cache.example.com -a {} ping"),
    ("flag of a command line", Result, "ngrok config add-authtoken {}"),
    ("flag of a command line", Result, "vercel deploy --prod --token {}"),
    ("flag of a command line", Result, "docker login -u kim -p {} registry.example.com"),
    ("arguments in JSON", Json, r#"{"command":"npx","args":["-y","server-notes","--api-key","{}"]}"#),
    ("arguments in JSON", Json, r#"{"command":"node","args":["server.js","--token={}"]}"#),
    ("arguments, JavaScript", Stderr, "spawn [ 'npx', '--api-key', '{}' ]\n"),
    (
        "arguments, JavaScript",
        Stderr,
        "Error: spawn npx ENOENT\n  spawnargs: [ '-y', 'server-notes', '--token', '{}' ]\n",
    ),
    ("arguments, JavaScript", Stderr, "spawn [\n  'npx',\n  '-y',\n  '--api-key',\n  '{}'\n]\n"),
    ("arguments, Python", Stderr, "subprocess.CalledProcessError: Command '['npx', '--api-key', '{}']' returned 1\n"),
    ("arguments, Python", Result, "running ['python', '-m', 'notes', '--password', '{}'] failed"),
    ("arguments, Python", Result, "argv=('notes', '--token', '{}')"),
    ("arguments, Rust", Stderr, "running \"npx\" \"--api-key\" \"{}\"\n"),
    ("arguments, Rust", Stderr, "Command { args: [\"npx\", \"--api-key\", \"{}\"] }\n"),
    ("arguments, Go", Stderr, "exec [npx --api-key {}]: exit status 1\n"),
    ("arguments, Go", Stderr, "args=[]string{\"npx\", \"--token\", \"{}\"}\n"),
    ("arguments, PowerShell", Result, "Start-Process npx -ArgumentList @('--api-key', '{}')"),
    ("arguments, PowerShell", Result, "Connect-Notes -ApiKey '{}' -Verbose"),
    ("arguments, shell", Result, "+ npx '--api-key' '{}'"),
    ("arguments, shell", Result, "args=(--port 3000 --password \"{}\")"),
    ("arguments, short flags", Stderr, "spawn [ 'sshpass', '-p', '{}', 'ssh', 'host' ]\n"),
    ("arguments, short flags", Stderr, "failed: ['curl', '-u', 'kim:{}', 'https://api.example.com']\n"),
    ("arguments, short flags", Stderr, "failed: [\"redis-cli\", \"-a\", \"{}\", \"ping\"]\n"),
    ("connection text", Result, "Driver={SQL Server};Server=db.example.com;UID=sa;PWD={};"),
    ("connection text", Result, "Server=db.example.com,1433;User ID=app;Password={};Encrypt=True;"),
    (
        "connection text",
        Result,
        "Server=localhost;Initial Catalog=Demo;User ID=sa;Pwd={};MultipleActiveResultSets=true;",
    ),
    ("connection text", Stderr, "host=db.example.com port=5432 user=app password={} dbname=notes\n"),
    (
        "connection text",
        Json,
        r#"{"dsn":"Endpoint=sb://bus.example.com/;SharedAccessKeyName=root;SharedAccessKey={}"}"#,
    ),
    (
        "connection text",
        Result,
        "DefaultEndpointsProtocol=https;AccountName=notes;AccountKey={};EndpointSuffix=example.com",
    ),
    ("connection text", Result, "requests.get(url, auth=('kim', '{}'), timeout=3)"),
    ("connection text", Result, "conn = connect(user='app', passwd='{}', db='notes')"),
    ("SQL", Result, "CREATE USER 'app'@'%' IDENTIFIED BY '{}';"),
    ("SQL", Result, "ALTER USER app WITH PASSWORD '{}';"),
    ("SQL", Result, "CREATE LOGIN app WITH PASSWORD = N'{}';"),
    ("SQL", Result, "ALTER USER app IDENTIFIED BY \"{}\" ACCOUNT UNLOCK"),
    ("SQL", Json, r#"{"sql":"INSERT INTO users (name, password) VALUES ('kim', '{}')"}"#),
    ("curl", Result, "curl -u kim:{} https://api.example.com/v1/me"),
    ("curl", Result, "curl -H 'X-Api-Key: {}' https://api.example.com/v1/me"),
    ("curl", Result, "curl -H \"Authorization: Bearer {}\" https://api.example.com/v1/me"),
    ("curl", Result, "curl -b 'sessionid={}' https://api.example.com/v1/me"),
    ("curl", Result, "curl --cookie \"theme=dark; auth={}\" https://api.example.com/v1/me"),
    ("curl", Result, "curl -d 'grant_type=client_credentials&client_secret={}' https://login.example.com/token"),
    ("form body", Argument, "grant_type=password&username=kim&password={}&scope=read"),
    ("form body", Json, r#"{"body":"code=1&client_secret={}&redirect_uri=x"}"#),
    ("settings file", Result, "machine git.example.com\n  login kim\n  password {}\n"),
    ("settings file", Result, "db.example.com:5432:notes:app:{}"),
    ("settings file", Result, "registry=https://npm.example.com/\n//npm.example.com/:_authToken={}\n"),
    ("settings file", Result, "server:\n  port: 3000\n  password: {}\n"),
    ("settings file", Result, "notes:\n  apiKey: \"{}\"\n  limit: 3\n"),
    ("settings file", Result, "- name: NOTES_TOKEN\n  value: {}\n"),
    ("settings file", Result, "[notes]\nport = 3000\napi_token = \"{}\"\n"),
    ("settings file", Result, "[client]\nuser=app\npassword={}\n"),
    ("settings file", Result, "spring.datasource.username=app\nspring.datasource.password={}\n"),
    ("settings file", Result, "<config><user>app</user><password>{}</password></config>"),
    ("settings file", Result, "<add key=\"ApiKey\" value=\"{}\" />"),
    ("settings file", Result, "variable \"db_password\" {\n  default = \"{}\"\n}"),
    ("table", Result, "| user | password |\n| --- | --- |\n| kim | {} |"),
    ("table", Result, "user,api_key\nkim,{}\n"),
    ("code", Result, "const client = new Notes({ apiKey: '{}' });"),
    ("code", Result, "api_key = \"{}\"  # from the wiki"),
    ("code", Result, "client.setPassword(\"{}\");"),
    ("code", Result, "os.environ[\"NOTES_API_KEY\"] = \"{}\""),
    ("prose", Result, "The password is {} and works until Friday."),
    ("prose", Argument, "log in with username kim and password: {}"),
    ("label in another language", Result, "Benutzer: kim\nPasswort: {}\n"),
    ("label in another language", Result, "Usuario: kim\nContrase\u{f1}a: {}\n"),
    ("label in another language", Result, "Utilisateur : kim\nMot de passe : {}\n"),
    ("label in another language", Result, "Utente: kim\nParola d'ordine: {}\n"),
    ("label in another language", Result, "Usu\u{e1}rio: kim\nSenha: {}\n"),
    ("label in another language", Result, "Gebruiker: kim\nWachtwoord: {}\n"),
    ("label in another language", Result, "U\u{17c}ytkownik: kim\nHas\u{142}o: {}\n"),
    ("label in another language", Result, "Anv\u{e4}ndare: kim\nL\u{f6}senord: {}\n"),
    ("label in another language", Result, "Kullan\u{131}c\u{131}: kim\n\u{15e}ifre: {}\n"),
    (
        "label in another language",
        Result,
        "\u{41b}\u{43e}\u{433}\u{438}\u{43d}: kim\n\u{41f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}: {}\n",
    ),
    ("label in another language", Result, "\u{7528}\u{6237}: kim\n\u{5bc6}\u{7801}\u{ff1a}{}\n"),
    (
        "label in another language",
        Result,
        "\u{30e6}\u{30fc}\u{30b6}\u{30fc}: kim\n\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}: {}\n",
    ),
    ("label in another language", Result, "\u{c0ac}\u{c6a9}\u{c790}: kim\n\u{be44}\u{bc00}\u{bc88}\u{d638}: {}\n"),
    ("label in another language", Json, r#"{"Benutzer":"kim","Kennwort":"{}"}"#),
    ("storage state", Json, r#"{"cookies":[{"name":"sessionid","value":"{}","domain":"app.example.com","path":"/"}]}"#),
    (
        "storage state",
        Json,
        r#"{"origins":[{"origin":"https://app.example.com","localStorage":[{"name":"auth_token","value":"{}"}]}]}"#,
    ),
    (
        "storage state",
        Result,
        "{\"cookies\": [{\"name\": \"sid\", \"value\": \"{}\", \"domain\": \"app.example.com\", \"httpOnly\": true}]}",
    ),
    (
        "accessibility snapshot",
        Result,
        "- textbox \"Username\" [ref=e10]: kim\n- textbox \"Password\" [ref=e12]: {}\n- button \"Sign in\" [ref=e14]",
    ),
    ("accessibility snapshot", Result, "- textbox \"Enter your password\" [active] [ref=e3]: {}"),
    ("accessibility snapshot", Result, "uid=1_4 textbox \"Password\" value=\"{}\" focusable"),
    ("fill and type", Json, r#"{"element":"Password field","ref":"e12","text":"{}"}"#),
    ("fill and type", Json, r##"{"selector":"#password","value":"{}"}"##),
    ("fill and type", Json, r#"{"selector":"input[type=password]","text":"{}"}"#),
    ("fill and type", Json, r#"{"fields":[{"name":"Password","type":"textbox","ref":"e5","value":"{}"}]}"#),
    ("fill and type", Result, "await page.getByLabel('Password').fill('{}');"),
    ("fill and type", Result, "await page.getByRole('textbox', { name: 'Password' }).fill('{}');"),
    ("fill and type", Result, "await page.type('#password', '{}');"),
];
