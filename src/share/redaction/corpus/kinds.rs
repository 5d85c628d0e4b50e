//! Kinds of secrets, by the published shapes of their values.

use fastrand::Rng;

/// A value, and those parts of it that are secret.
pub(super) struct Value {
    pub(super) text: String,
    pub(super) parts: Vec<String>,
}

/// Tokens that are known by their shape, wherever they stand. `<36>` is a secret part of 36 letters and digits; `h` after the
/// number means hexadecimal digits, `d` digits, `u` upper case, `l` lower case. A part in brackets is no secret.
pub(super) const TOKENS: &[(&str, &str)] = &[
    ("AWS access key", "AKIA<16u>"),
    ("AWS temporary key", "ASIA<16u>"),
    ("Airtable", "pat[14].<64h>"),
    ("Anthropic", "sk-ant-api03-<93>AA"),
    ("Anthropic OAuth", "sk-ant-oat01-<93>AA"),
    ("Asana", "2/[16d]/[16d]:<32h>"),
    ("Atlassian", "ATATT3xFfGF0<120>=[8U]"),
    ("Bitbucket", "ATBB<24>[8U]"),
    ("Brevo", "xkeysib-<64h>-<16>"),
    ("Buildkite", "bkua_<40h>"),
    ("ClickUp", "pk_[8d]_<32u>"),
    ("Clojars", "CLOJARS_<60h>"),
    ("Context7", "ctx7sk-<8h>-<4h>-<4h>-<4h>-<12h>"),
    ("Cursor", "key_<64h>"),
    ("Databricks", "dapi<32h>"),
    ("Discord", "MT[22].G[5].<38>"),
    ("DigitalOcean", "dop_v1_<64h>"),
    ("Docker", "dckr_pat_<27>"),
    ("Doppler", "dp.pt.<43>"),
    ("Dynatrace", "dt0c01.[24u].<64u>"),
    ("E2B", "e2b_<40h>"),
    ("ElevenLabs", "sk_<48h>"),
    ("Figma", "figd_<40>"),
    ("Firecrawl", "fc-<32h>"),
    ("GitHub", "ghp_<36>"),
    ("GitHub OAuth", "gho_<36>"),
    ("GitHub app", "ghs_<36>"),
    ("GitHub fine-grained", "github_pat_11<20>_<59>"),
    ("GitLab", "glpat-<20>"),
    ("GitLab runner", "glrt-<20>"),
    ("Google API", "AIzaSy<33>"),
    ("Google OAuth", "ya29.a0<120>"),
    ("Google client", "GOCSPX-<28>"),
    ("Grafana", "glsa_<32>_<8h>"),
    ("Groq", "gsk_<52>"),
    ("Hugging Face", "hf_<34l>"),
    ("JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI<42>.<43>"),
    ("LangSmith", "lsv2_pt_<32h>_<10h>"),
    ("Linear", "lin_api_<40>"),
    ("Mailgun", "key-<32h>"),
    ("New Relic", "NRAK-<27u>"),
    ("Netlify", "nfp_<36>"),
    ("Notion", "ntn_<46>"),
    ("Nvidia", "nvapi-<64>"),
    ("OpenAI", "sk-proj-<74>T3BlbkFJ<74>"),
    ("OpenAI, older", "sk-<20>T3BlbkFJ<20>"),
    ("OpenRouter", "sk-or-v1-<64h>"),
    ("PEM key", "-----BEGIN [4K]-----\n<64>\n<64>\n<38>==\n-----END [4K]-----"),
    ("Perplexity", "pplx-<48>"),
    ("PlanetScale", "pscale_pw_<43>"),
    ("PostHog", "phx_<43>"),
    ("Postman", "PMAK-<24h>-<34h>"),
    ("Prefect", "pnu_<36>"),
    ("Pulumi", "pul-<40h>"),
    ("PyPI", "pypi-AgEIcHlwaS5vcmc<90>"),
    ("Replicate", "r8_<37>"),
    ("Resend", "re_<8>_<24>"),
    ("SendGrid", "SG.<22>.<43>"),
    ("Shopify", "shpat_<32h>"),
    ("Slack", "xoxb-[12d]-[13d]-<24>"),
    ("Slack app", "xapp-1-A[10U]-[13d]-<64h>"),
    ("Slack user", "xoxp-[12d]-[12d]-[13d]-<32h>"),
    ("Sonar", "squ_<40h>"),
    ("Stripe", "sk_live_<24>"),
    ("Stripe restricted", "rk_live_<98>"),
    ("Supabase", "sbp_<40h>"),
    ("Tailscale", "tskey-auth-<12>CNTRL-<32>"),
    ("Tavily", "tvly-dev-<32>"),
    ("Telegram", "[10d]:AA<33>"),
    ("Terraform", "[14].atlasv1.<67>"),
    ("Twilio", "SK<32h>"),
    ("Vault", "hvs.CAES<90>"),
    ("Vercel blob", "vercel_blob_rw_[16]_<32>"),
    ("age", "AGE-SECRET-KEY-1<58u>"),
    ("npm", "npm_<36>"),
    ("ngrok", "2[26]_<21>"),
    ("webhook", "whsec_<32>"),
    ("xAI", "xai-<80>"),
    ("card number", "<16C>"),
    ("e-mail address", "<9l>@[8l].corp"),
    ("home folder", "/home/<9l>/src/notes.rs"),
];

/// Values that only their place gives away.
pub(super) const PASSWORDS: &[(&str, &str)] = &[
    ("password", "<5l><3d><4L>"),
    ("key of hexadecimal digits", "<32h>"),
    ("key of letters and digits", "<40>"),
    ("UUID", "<8h>-<4h>-4<3h>-a<3h>-<12h>"),
    ("short password", "<1L><6l><2d>"),
];

/// Fills in a template.
pub(super) fn value(template: &str, random: &mut Rng) -> Value {
    let (mut text, mut parts, mut rest) = (String::new(), Vec::new(), template);
    while let Some(at) = rest.find(['<', '[']) {
        text.push_str(&rest[..at]);
        let (bracket, behind) = rest[at..].split_at(1);
        rest = behind;
        match hole(behind, if bracket == "<" { '>' } else { ']' }) {
            Some((count, class)) => {
                let made = run(count, class, random);
                text.push_str(&made);
                parts.extend((bracket == "<").then_some(made));
                rest = &behind[behind.find(['>', ']']).map_or(0, |end| end + 1)..];
            }
            None => text.push_str(bracket),
        }
    }
    text.push_str(rest);
    // The pieces of a password or UUID are one secret; those of a token that are too short to use are none.
    if parts.iter().all(|part| part.len() < super::judge::WINDOW) {
        parts = vec![text.clone()];
    }
    parts.retain(|part| part.len() >= super::judge::WINDOW || part.len() == text.len());
    Value { text, parts }
}

/// The number and the class of a hole that ends with this bracket, if it is one.
fn hole(text: &str, end: char) -> Option<(usize, &str)> {
    let inner = &text[..text.find(end)?];
    let class = inner.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let count = inner[..inner.len() - class.len()].parse().ok()?;
    matches!(class, "" | "h" | "d" | "u" | "U" | "l" | "L" | "K" | "C").then_some((count, class))
}

fn run(count: usize, class: &str, random: &mut Rng) -> String {
    let letters = match class {
        "h" => "0123456789abcdef",
        "d" => "0123456789",
        "u" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "U" => "0123456789ABCDEF",
        "l" => "abcdefghijkmnopqrstuvwxyz",
        "L" => "ABCDEFGHJKLMNPQRSTUVWXYZ",
        "C" => return card(count, random),
        "K" => return [["RSA", "EC", "OPENSSH"][count % 3], "PRIVATE", "KEY"].join(" "),
        _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    };
    let letters: Vec<char> = letters.chars().collect();
    (0..count).map(|_| letters[random.usize(..letters.len())]).collect()
}

/// The number of a card, with its check digit.
fn card(count: usize, random: &mut Rng) -> String {
    let digits = format!("4{}", run(count - 2, "d", random));
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let values = digits.chars().rev().filter_map(|digit| digit.to_digit(10)).enumerate();
    let sum: u32 = values.map(|(at, digit)| if at % 2 == 0 { doubled(digit) } else { digit }).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}
