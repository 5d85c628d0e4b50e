//! The list of detectors: what a secret looks like. Written from the published formats of tokens.
//!
//! A line of the list has a name, the texts of which one must occur (so that the pattern runs rarely), the pattern and an
//! example. The last group of the pattern is the secret; what is before it, such as the prefix of a token, stays. A
//! pattern that begins with `~` must begin a word. If two detectors find overlapping secrets, the earlier one counts.

use super::checks;
use super::pseudonym::Kind;
use regex::bytes::Captures;

/// How bad it is if the text becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Personal data, or a text that may be a secret.
    Low,
    /// A secret of limited use, or one that is recognised by the text around it.
    Medium,
    /// A secret that opens something.
    High,
}

impl Severity {
    /// Returns the name in reports and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Whether a match is a secret: gets the text and the pattern's groups.
pub(crate) type Check = fn(&[u8], &Captures<'_>) -> bool;

/// One kind of secret.
#[derive(Clone, Copy)]
pub struct Detector {
    /// The name in reports and settings.
    pub name: &'static str,
    /// How bad it is if the secret becomes known.
    pub severity: Severity,
    /// The texts of which one must occur, in lower case; none if the pattern must always run.
    pub keywords: &'static [&'static str],
    /// The pattern; its last group is the secret.
    pub pattern: &'static str,
    /// What else must hold.
    pub check: Check,
    /// What a pseudonym of the secret must look like.
    pub kind: Kind,
    /// An example for [`sample`].
    pub example: &'static str,
    /// Whether the detector is used for command lines and HTTP heads at capture.
    pub at_capture: bool,
    /// Whether the secret is recognised by its own shape.
    pub is_shape: bool,
}

/// A token with a shape of its own.
const fn token(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    example: &'static str,
) -> Detector {
    let (severity, check, kind) = (Severity::High, checks::any as Check, Kind::Token);
    Detector { name, severity, keywords, pattern, check, kind, example, at_capture: true, is_shape: true }
}

/// A secret that is recognised by what surrounds it, or by what a check says.
const fn checked(
    name: &'static str,
    severity: Severity,
    kind: Kind,
    (keywords, pattern): (&'static [&'static str], &'static str),
    check: Check,
    example: &'static str,
) -> Detector {
    Detector {
        name,
        severity,
        keywords,
        pattern,
        check,
        kind,
        example,
        at_capture: !matches!(severity, Severity::Low),
        is_shape: false,
    }
}

/// The options of programs that take a password, and that have another meaning elsewhere.
const PROGRAM_OPTION: &str = concat!(
    r"(?i)\b(?:",
    r"(?:mysql(?:dump|admin|import|show|check|slap|pump)?|mariadb(?:-[a-z]{1,12})?|7z[ar]?)\b[^\n|;&]{0,200}?\s-p",
    r"|sshpass\s(?:[^\n|;&]{0,60}?\s)?-p\s?",
    r"|(?:mongo(?:sh|dump|restore|export|import)?|(?:docker|podman|registry|az)\s+login)\b[^\n|;&]{0,200}?\s-p[\s=]",
    r"|redis-cli\b[^\n|;&]{0,200}?\s-a[\s=]",
    r"|ldap[a-z]{3,12}\b[^\n|;&]{0,200}?\s-w\s",
    r"|(?:zip|unzip|sqlcmd|bcp)\b[^\n|;&]{0,200}?\s(?-i:-P)\s?",
    r#")\\*["']?([^\s"'\\-][^\s"'\\]{2,})"#,
);

/// Passwords in statements of SQL.
const SQL_PASSWORD: &str = concat!(
    r"(?i)\b(?:",
    r"IDENTIFIED\s+(?:(?:WITH|VIA)\s+\S{1,60}\s+)?(?:BY|AS|USING)\s+(?:PASSWORD\s*\(?\s*|VALUES\s+)?",
    r"|SET\s+PASSWORD\s+FOR\s+\S{1,80}\s*=\s*(?:PASSWORD\s*\(\s*)?",
    r"|PASSWORD\s*\(?\s*",
    r#")\\*(?:'([^'\\]{2,200})|"([^"\\]{2,200}))|\bIDENTIFIED\s+BY\s+([A-Z0-9_$\#]{3,})"#,
);

/// The name of the detector of values after a name and `=` or `:`.
pub(super) const ASSIGNMENT: &str = "assignment";

/// All detectors, the most specific first.
pub const DETECTORS: &[Detector] = &[
    token(
        "private-key",
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----([\s\S]{16,}?)(?:-----END|\z)",
        "-----BEGIN RSA PRIVATE KEY-----\n<64>\n<64>\n<40>\n-----END RSA PRIVATE KEY-----",
    ),
    token(
        "jwt",
        &["eyj"],
        r"~eyJ([A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){1,3})",
        "eyJhbGciOiJIUzI1NiJ9.eyJ<40>.<43>",
    ),
    token(
        "aws-access-key",
        &["akia", "asia", "abia", "acca"],
        r"~(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{16})\b",
        "AKIA<16u>",
    ),
    token(
        "aws-secret-key",
        &["aws"],
        r#"(?i)aws[a-z0-9_ .-]{0,30}(?:secret|key)[a-z0-9_ .-]{0,20}\\?["']?\s*[=:>]{1,2}\s*\\?["']?([A-Za-z0-9/+]{40})\b"#,
        "aws_secret_access_key=<40>",
    ),
    token("google-api-key", &["aiza"], r"~AIza([0-9A-Za-z_-]{35})", "AIza<35>"),
    token("google-access-token", &["ya29."], r"~ya29\.([0-9A-Za-z_-]{20,})", "ya29.<60>"),
    token("google-client-secret", &["gocspx-"], r"GOCSPX-([A-Za-z0-9_-]{20,})", "GOCSPX-<28>"),
    token("google-refresh-token", &["1//0"], r"~1//0([A-Za-z0-9_-]{40,})", "1//0<60>"),
    token("azure-storage-key", &["accountkey="], r"(?i)AccountKey=([A-Za-z0-9+/]{60,}={0,2})", "AccountKey=<86>=="),
    token(
        "azure-shared-access-key",
        &["sharedaccesskey="],
        r"(?i)SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})",
        "SharedAccessKey=<43>=",
    ),
    token("azure-client-secret", &["q~"], r"~[A-Za-z0-9_.~-]{3}[0-9]Q~([A-Za-z0-9_.~-]{31,34})", "abc8Q~<34>"),
    token(
        "azure-shared-access-signature",
        &["sig="],
        r"[?&;]sig=([A-Za-z0-9%+/=]{20,})",
        "https://a.blob.core.windows.net/c?sv=2024&sig=<43>%3D",
    ),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_([A-Za-z0-9]{16,})", "ghp_<36>"),
    token("github-fine-grained-token", &["github_pat_"], r"github_pat_([A-Za-z0-9_]{22,})", "github_pat_<22>_<59>"),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glcbt-", "glsoat-"],
        r"gl(?:pat|dt|rt|ptt|ft|imt|agent|oas|cbt|soat)-([A-Za-z0-9_-]{20,})",
        "glpat-<20>",
    ),
    token("bitbucket-token", &["atbb", "atctt3"], r"~(?:ATBB|ATCTT3)([A-Za-z0-9_=-]{24,})", "ATBB<32>"),
    token("atlassian-token", &["atatt3"], r"~ATATT3([A-Za-z0-9_=-]{60,})", "ATATT3<186>"),
    token("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z0-9]{2,12}-([A-Za-z0-9_-]{20,})", "sk-ant-api03-<93>AA"),
    token("openrouter-key", &["sk-or-"], r"sk-or-v1-([0-9a-f]{32,})", "sk-or-v1-<64h>"),
    token(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        r"sk-(?:proj|svcacct|admin)-([A-Za-z0-9_-]{20,})",
        "sk-proj-<74>",
    ),
    token("sk-key", &["sk-"], r"~sk-(?:[a-z]{2,8}-)?([A-Za-z0-9_]{16,})", "sk-<48>"),
    token("huggingface-token", &["hf_", "api_org_"], r"~(?:hf_|api_org_)([A-Za-z0-9]{30,})", "hf_<34l>"),
    token("groq-key", &["gsk_"], r"~gsk_([A-Za-z0-9]{32,})", "gsk_<52>"),
    token("replicate-token", &["r8_"], r"~r8_([A-Za-z0-9]{30,})", "r8_<37>"),
    token("perplexity-key", &["pplx-"], r"pplx-([A-Za-z0-9]{30,})", "pplx-<48>"),
    token("xai-key", &["xai-"], r"~xai-([A-Za-z0-9]{40,})", "xai-<80>"),
    token("tavily-key", &["tvly-"], r"tvly-([A-Za-z0-9-]{20,})", "tvly-dev-<32>"),
    token("firecrawl-key", &["fc-"], r"~fc-([0-9a-f]{32})\b", "fc-<32h>"),
    token("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_([0-9a-f]{32}_[0-9a-f]{10})", "lsv2_pt_<32h>_<10h>"),
    token("brave-key", &["bsa"], r"~BSA([A-Za-z0-9_-]{24,})", "BSA<27>"),
    token("nvidia-key", &["nvapi-"], r"nvapi-([A-Za-z0-9_-]{40,})", "nvapi-<64>"),
    token(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})",
        "https://hooks.slack.com/services/T<8u>/B<8u>/<24>",
    ),
    token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe."],
        r"xox[abcdeoprs][.-](?:xox[bp]-)?([A-Za-z0-9-]{10,})",
        "xoxb-<12d>-<12d>-<24>",
    ),
    token("slack-app-token", &["xapp-"], r"xapp-[0-9]-([A-Za-z0-9-]{20,})", "xapp-1-A<10u>-<13d>-<64h>"),
    token(
        "discord-webhook",
        &["api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/([A-Za-z0-9]{10,}/[A-Za-z0-9_-]{40,})",
        "https://discord.com/api/webhooks/<18d>/<68>",
    ),
    token(
        "discord-bot-token",
        &[],
        r"~[MNO][A-Za-z0-9_-]([A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})\b",
        "MT<24>.<6>.<38>",
    ),
    token(
        "teams-webhook",
        &["webhook.office.com"],
        r#"webhook\.office\.com/webhookb2/([^\s"'<>]{20,})"#,
        "https://acme.webhook.office.com/webhookb2/<36>@<36>/IncomingWebhook/<32h>/<36>",
    ),
    token("telegram-bot-token", &[":aa"], r"~[0-9]{8,10}:AA([A-Za-z0-9_-]{33})", "<9d>:AA<33>"),
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
        r"[sr]k_(?:live|test)_([A-Za-z0-9]{12,})",
        "sk_live_<24>",
    ),
    token("webhook-secret", &["whsec_"], r"whsec_([A-Za-z0-9+/=]{20,})", "whsec_<32>"),
    token("twilio-key", &["sk"], r"~SK([0-9a-f]{32})\b", "SK<32h>"),
    token("sendgrid-key", &["sg."], r"~SG\.([A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})", "SG.<22>.<43>"),
    token("mailgun-key", &["key-"], r"~key-([0-9a-f]{32})\b", "key-<32h>"),
    token("mailchimp-key", &["-us"], r"~([0-9a-f]{32})-us[0-9]{1,2}\b", "<32h>-us12"),
    token("brevo-key", &["xkeysib-"], r"xkeysib-([A-Za-z0-9]{64}-[A-Za-z0-9]{16})", "xkeysib-<64h>-<16>"),
    token("npm-token", &["npm_"], r"~npm_([A-Za-z0-9]{16,})", "npm_<36>"),
    token("pypi-token", &["pypi-"], r"pypi-([A-Za-z0-9_-]{50,})", "pypi-AgEIcHlwaS5vcmc<120>"),
    token("rubygems-key", &["rubygems_"], r"rubygems_([0-9a-f]{48})", "rubygems_<48h>"),
    token("crates-token", &["cio"], r"~cio([A-Za-z0-9]{32})\b", "cio<32>"),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_([A-Za-z0-9_-]{20,})", "dckr_pat_<27>"),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_([0-9a-f]{64})", "dop_v1_<64h>"),
    token("heroku-key", &["hrku-"], r"HRKU-([A-Za-z0-9_-]{36,})", "HRKU-AA<58>"),
    token("cloudflare-origin-key", &["v1.0-"], r"~v1\.0-([0-9a-f]{24}-[0-9a-f]{146})", "v1.0-<24h>-<146h>"),
    token("netlify-token", &["nfp_", "nfc_", "nfo_"], r"~nf[pco]_([A-Za-z0-9]{36})", "nfp_<36>"),
    token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_([A-Za-z0-9]{32,})", "lin_api_<40>"),
    token("notion-token", &["ntn_", "secret_"], r"~(?:ntn_|secret_)([A-Za-z0-9]{40,})", "ntn_<46>"),
    token("figma-token", &["figd_", "figo_", "figu_", "figr_"], r"~fig[dour]_([A-Za-z0-9_-]{36,})", "figd_<40>"),
    token("airtable-token", &["pat"], r"~pat[A-Za-z0-9]{14}\.([0-9a-f]{64})", "pat<14>.<64h>"),
    token(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"shp(?:at|ca|pa|ss)_([0-9a-zA-Z]{32})",
        "shpat_<32h>",
    ),
    token(
        "square-token",
        &["sq0atp-", "sq0csp-", "sq0idp-", "eaaa"],
        r"~(?:sq0[a-z]{3}-|EAAA[A-Za-z])([A-Za-z0-9_-]{22,})",
        "sq0atp-<22>",
    ),
    token("facebook-token", &["eaa"], r"~EAA([A-Za-z0-9]{80,})", "EAA<120>"),
    token(
        "twitter-token",
        &["aaaaaaaaaaaaaaaaaaaaa"],
        r"~AAAAAAAAAAAAAAAAAAAAA([A-Za-z0-9%]{50,})",
        "AAAAAAAAAAAAAAAAAAAAA<70>",
    ),
    token("databricks-token", &["dapi"], r"~dapi([0-9a-f]{32})", "dapi<32h>"),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"~hv[sbr]\.([A-Za-z0-9_-]{24,})", "hvs.<90>"),
    token("terraform-token", &[".atlasv1."], r"~[A-Za-z0-9]{14}\.atlasv1\.([A-Za-z0-9_=-]{60,})", "<14>.atlasv1.<67>"),
    token("pulumi-token", &["pul-"], r"~pul-([0-9a-f]{40})", "pul-<40h>"),
    token("grafana-token", &["glsa_", "glc_"], r"~(?:glsa_|glc_)([A-Za-z0-9+/_=]{32,})", "glsa_<32>_<8h>"),
    token("newrelic-key", &["nrak-", "nrjs-", "nrii-"], r"~NR(?:AK|JS|II)-([A-Za-z0-9_-]{19,})", "NRAK-<27u>"),
    token("sentry-token", &["sntrys_", "sntryu_"], r"sntry[su]_([A-Za-z0-9+/=_-]{40,})", "sntryu_<64h>"),
    token("dynatrace-token", &["dt0"], r"~dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.([A-Z0-9]{64})", "dt0c01.<24u>.<64u>"),
    token("postman-key", &["pmak-"], r"PMAK-([0-9a-f]{24}-[0-9a-f]{34})", "PMAK-<24h>-<34h>"),
    token("supabase-key", &["sbp_", "sb_secret_"], r"~(?:sbp_|sb_secret_)([A-Za-z0-9_-]{20,})", "sbp_<40h>"),
    token("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_([A-Za-z0-9_.-]{32,})", "pscale_tkn_<43>"),
    token("doppler-token", &["dp."], r"~dp\.(?:pt|st|ct|sa|scim|audit)\.([A-Za-z0-9_.-]{40,})", "dp.pt.<43>"),
    token("age-key", &["age-secret-key-1"], r"AGE-SECRET-KEY-1([0-9A-Z]{58})", "AGE-SECRET-KEY-1<58u>"),
    token("onepassword-token", &["ops_eyj"], r"ops_eyJ([A-Za-z0-9+/_-]{100,}={0,3})", "ops_eyJ<260>"),
    token("fly-token", &["fo1_", "fm1", "fm2_"], r"~(?:fo1_|fm[12][ar]?_)([A-Za-z0-9+/_=,-]{40,})", "fo1_<43>"),
    token("tailscale-key", &["tskey-"], r"tskey-[a-z]+-([A-Za-z0-9_-]{16,})", "tskey-auth-<12>CNTRL-<32>"),
    token("sonar-token", &["squ_", "sqa_", "sqp_"], r"~sq[uap]_([0-9a-f]{40})", "squ_<40h>"),
    token("artifactory-key", &["akcp"], r"~AKCp([A-Za-z0-9]{60,})", "AKCp<69>"),
    token("buildkite-token", &["bkua_"], r"bkua_([0-9a-f]{40})", "bkua_<40h>"),
    token("circleci-token", &["ccipat_"], r"CCIPAT_([A-Za-z0-9_]{40,})", "CCIPAT_<22>_<40h>"),
    token("contentful-token", &["cfpat-"], r"CFPAT-([A-Za-z0-9_-]{40,})", "CFPAT-<43>"),
    token("posthog-key", &["phx_"], r"~phx_([A-Za-z0-9]{40,})", "phx_<47>"),
    token("square-oauth-secret", &["easyaccesstoken"], r"EasyAccessToken=([A-Za-z0-9]{20,})", "EasyAccessToken=<32>"),
    checked(
        "basic-credentials",
        Severity::High,
        Kind::Token,
        (&["basic"], r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})"),
        checks::basic,
        "Basic dXNlcjpodW50ZXIyLXM=",
    ),
    checked(
        "bearer-token",
        Severity::High,
        Kind::Token,
        (&["bearer", "dpop"], r#"(?i)\b(?:bearer|dpop)[\s:]{1,4}["']?([A-Za-z0-9_.~+/=-]{8,})"#),
        checks::random,
        "Bearer <32>",
    ),
    checked(
        "cookie",
        Severity::High,
        Kind::Token,
        (&["cookie:"], r"(?i)cookie:[ \t]*([^\r\n]{4,})"),
        checks::any,
        "Cookie: sid=<24>; theme=dark",
    ),
    checked(
        "url-password",
        Severity::High,
        Kind::Password,
        (&["://"], r#"(?i)[a-z][a-z0-9+.-]{1,20}://[^\s/?#:@"'<>]*:([^\s/@"'<>]+)@"#),
        checks::not_placeholder,
        "postgres://app:<12>@db.example.com:5432/app",
    ),
    checked(
        "url-user-token",
        Severity::High,
        Kind::Token,
        (&["://"], r#"(?i)[a-z][a-z0-9+.-]{1,20}://([^\s/?#:@"'<>]{16,})@"#),
        checks::random,
        "https://<32h>@o1.ingest.example.com/1",
    ),
    checked(
        "query-parameter",
        Severity::Medium,
        Kind::Password,
        (&["?", "&"], r#"[?&]([A-Za-z0-9_.~-]{1,60})=([^\s&#"'<>\\]{4,})"#),
        checks::parameter,
        "https://example.com/cb?access_token=<20>",
    ),
    checked(
        "user-flag",
        Severity::High,
        Kind::Password,
        (&["--user", "-u"], r#"(?:--user|(?:^|\s)-u)[ =]["']?[^\s:"'/]+:([^\s"'/]{3,})"#),
        checks::not_number,
        "curl --user jane:<12> https://example.com",
    ),
    checked(
        "flag",
        Severity::High,
        Kind::Password,
        (&["-"], r#"(?:^|[\s"'])--?([A-Za-z][A-Za-z0-9-]{1,40})[ =]["']?([^\s"'\\-][^\s"'\\]{2,})"#),
        checks::flag,
        "server --passphrase <10>",
    ),
    checked(
        "program-option",
        Severity::High,
        Kind::Password,
        (
            &["mysql", "mariadb", "sshpass", "mongo", " login", "redis-cli", "ldap", "zip", "sqlcmd", "bcp", "7z"],
            PROGRAM_OPTION,
        ),
        checks::last_not_placeholder,
        "mysql -u app -p<12> shop",
    ),
    checked(
        "sql-password",
        Severity::High,
        Kind::Password,
        (&["identified", "password"], SQL_PASSWORD),
        checks::last_not_placeholder,
        "CREATE USER app IDENTIFIED BY '<12>'",
    ),
    checked(
        "xml-element",
        Severity::Medium,
        Kind::Password,
        (
            &["</", "&lt;/"],
            r"(?i)(?:<|&lt;)([a-z][a-z0-9_.:-]{0,60})(?:\s[^<>]{0,200})?(?:>|&gt;)\s*(?:<!\[CDATA\[)?([^<>\s][^<>]{0,200}?)\s*(?:\]\]>)?(?:<|&lt;)/",
        ),
        checks::labelled,
        "&lt;password&gt;<12>&lt;/password&gt;",
    ),
    checked(
        "xml-attribute",
        Severity::Medium,
        Kind::Password,
        (
            &["value=", "value =", "content="],
            r#"(?i)\b(?:name|key|id|property)\s*=\s*\\*["']([^"'\\<>]{1,60})\\*["'][^<>]{0,200}?\b(?:value|content)\s*=\s*\\*["']([^"'\\<>]{1,200})"#,
        ),
        checks::labelled,
        "key=\"ApiKey\" value=\"<12>\"",
    ),
    checked(
        "xml-entry",
        Severity::Medium,
        Kind::Password,
        (
            &["string>", "value>", "data>", "string&gt;", "value&gt;", "data&gt;"],
            r"(?i)(?:<|&lt;)(?:key|name|property|member)(?:>|&gt;)\s*([^<>&]{1,60}?)\s*(?:<|&lt;)/[a-z]{1,20}(?:>|&gt;)\s*(?:<|&lt;)(?:string|value|data)(?:>|&gt;)\s*([^<>]{1,200}?)\s*(?:<|&lt;)/",
        ),
        checks::labelled,
        "&lt;key&gt;password&lt;/key&gt;&lt;string&gt;<12>&lt;/string&gt;",
    ),
    checked(
        "told-password",
        Severity::Medium,
        Kind::Password,
        (
            &["pass", "pin", "kennwort", "contrase", "senha", "wachtwoord"],
            r#"(?i)\b((?:pass(?:word|phrase|code|wort|e)|pin(?:[ -]code)?|kennwort|senha|wachtwoord)|contrase\S{1,2}a)[ \t]+(?:is|was|ist|lautet|est|es|to)[ \t]*:?[ \t]+\\*["'`]?([^\s"'`\\,;<>]{3,}[^\s"'`\\,;<>.!?:)])"#,
        ),
        checks::told,
        "the password is <12>",
    ),
    checked(
        ASSIGNMENT,
        Severity::Medium,
        Kind::Password,
        (
            &["pass", "pwd", "secret", "token", "key", "credential", "jwt", "otp", "auth", "pin", "pw"],
            r#"(?:^|\\[nrt]|[^A-Za-z0-9_.\\\x80-\xff])([A-Za-z_\x80-\xff][A-Za-z0-9_.\x80-\xff-]{0,40})(?:\\*["'])?[ \t]*(?::=|=>|=|:)(?:\*\*|__)?[ \t]*(?:\\*["'`])?([^\s"'\\,;&<>(){}\[\]|]{4,})"#,
        ),
        checks::assignment,
        "DB_PASSWORD=<12>",
    ),
    checked(
        "card-number",
        Severity::Medium,
        Kind::Digits,
        (&[], r"\b([2-6](?:[ -]?[0-9]){12,18})\b"),
        checks::card,
        "4111 1111 1111 1111",
    ),
    checked(
        "iban",
        Severity::Medium,
        Kind::Token,
        (&[], r"\b([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b"),
        checks::iban,
        "DE89 3704 0044 0532 0130 00",
    ),
    checked(
        "email-address",
        Severity::Low,
        Kind::Email,
        (&["@"], r"(?i)\b([a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})\b"),
        checks::email,
        "jane.doe@acme-corp.com",
    ),
    checked(
        "home-folder",
        Severity::Low,
        Kind::Password,
        (&["/home/", "/users/", r"\users\"], r#"(?:/home/|/Users/|\\+Users\\+)([^/\s"'\\:;,<>|*?$]{2,64})"#),
        checks::user,
        "/home/janedoe/projects",
    ),
    checked("high-entropy", Severity::Low, Kind::Token, (&[], r"([A-Za-z0-9+/_=-]{24,})"), checks::entropy, "<40>"),
];

/// The name under which a whole value is reported whose name suggests a secret.
pub(crate) const NAMED: &str = "named-value";
/// The name under which a value is reported whose place the user named.
pub(crate) const POINTER: &str = "pointer";

/// The rules that are no patterns, with what they find.
pub(crate) const OTHER_RULES: &[(&str, Severity, &str)] = &[
    (NAMED, Severity::High, "the whole value of a member, header or variable with a telling name, such as `password`"),
    (POINTER, Severity::High, "the value at a place that `pointers` in .mcpreel.toml names"),
    ("env", Severity::High, "the value of a variable that `env` in .mcpreel.toml names"),
    ("own-user", Severity::Low, "the user's name on this machine, where a name says that it is one"),
    ("own-host", Severity::Low, "the name of this machine, unless it is an ordinary word"),
];

/// Fills in an example: `<36>` becomes 36 letters and digits, `<8h>` hexadecimal digits, `<8d>` digits, `<8u>` upper-case
/// letters and digits, `<8l>` letters. `random` returns a number below its argument.
pub fn sample(example: &str, mut random: impl FnMut(usize) -> usize) -> String {
    const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut out = String::new();
    let mut rest = example;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let Some((hole, tail)) = after.split_once('>') else { break };
        let count: usize = hole.trim_end_matches(char::is_alphabetic).parse().unwrap_or(0);
        let (letters, start) = match hole.trim_start_matches(char::is_numeric) {
            "h" => (&b"0123456789abcdef"[..], out.len()),
            "d" => (&ALL[52..], out.len()),
            "u" => (&b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[..], out.len()),
            "l" => (&ALL[..52], out.len()),
            _ => (ALL, out.len()),
        };
        while out.len() < start + count {
            out.push(char::from(letters[random(letters.len())]));
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
