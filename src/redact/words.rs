//! Ordinary words. What consists of them says nothing where no name says that it is a secret, and replacing such a word
//! everywhere would spoil a recording.

/// Words of English texts and of protocols, in lower case. Shorter ones are all ordinary.
const WORDS: &str = "\
    about above accept accepted access account action active actual adding address admin after again agent align \
    alive allow allowed almost alone along already although always among amount analysis annotations anonymous \
    another answer anyone anything apple application apply archive argument arguments array article assistant async \
    attempt audio authenticated authentication author authorization auto automatic available average backup balance \
    banana banner basic batch bearer become before begin behind being below better between binary blank blink block \
    blue board body boolean border both bottom bound branch break bridge bring broken brown browser buffer build \
    builder building business button bytes cache calendar call called caller cancel cancelled cannot capabilities \
    capability capture carry catalog category cause center central certain certificate chain change changed changeme \
    channel chapter character charge check checked child children choice choose cipher circle class clean clear \
    cleartext click client clients clock close closed cloud cluster code collection color column combine command \
    comment commit common company compare complete completed completion component computer concept condition \
    confidential config configuration configured connect connected connecting connection console constant contact \
    contain container content contents context continue control cookie copy corporate correct count counter country \
    course create created credential credentials credit current cursor custom customer daemon damage dark data \
    database date debug december decimal decision default define delete deleted delta demo denied depth describe \
    description design desktop detail details develop developer development device dialog different digest direct \
    direction directory disable disabled disk display distance document documents does dollar domain done double \
    down download draft driver during dynamic each early echo edge edit editor effect either elapsed element \
    elicitation email empty enable enabled encoding encrypted encryption ending endpoint engine english enter \
    enterprise entire entry environment equal error errors even event events every everyone everything exact example \
    except exchange execute exist existing exit expected expire expired expires export extend extension external \
    extra failed failure false family fast fatal fault feature features february field fields file files filter \
    final find finish finished first fixed flag floor folder follow following font force foreign form format found \
    frame free french fresh friday friend from front full function further future game gateway general generic \
    german getting girl give given global goal good google great green grey ground group guest guide hand handle \
    handler happy hard have header headers health height hello help here hidden high history hold holder home host \
    hour hours house http https human identity idle image images import inactive include included incorrect index \
    info inform information inherit initial initialize initialized inner input insecure inside install instance \
    instead instructions integer interface internal internet interval into invalid invalidate invoke issue item \
    items january java javascript json just keep kept kerberos kernel keyboard keys kind known label lambda language \
    large last later latest launch layer layout learn least leave left legacy length less letter level library \
    license light like limit limited line linear lines link linux list listen live load loaded local location lock \
    locked logger logging login logout long look loop lower machine magic mail main major make manage manager manual \
    many march margin mark market master match matched maximum maybe mean media medium member members memory menu \
    merge message messages meta method metrics middle might minimum minor minute minutes missing mobile mock mode \
    model models modern modified module moment monday money monitor month more morning most mount mouse move much \
    multi multiple music must mutable name names negotiate nested network never newer next night nobody node none \
    normal north note notes nothing notice notification notifications november null number numbers oauth object \
    october offset often older once only open opened operation operator option optional options orange order origin \
    original other others outer outline output outside over override owner package page pages panel paper parallel \
    param parameter params parent parse parser part partial party pass passed password path pattern patterns pause \
    payload pending people percent perhaps period permission person personal phone picture ping pipe place plain \
    plaintext platform play player please plugin point pointer policy popular port possible post power prefix \
    premium present press preview previous price primary print printer priority private problem process product \
    production profile program progress project prompt prompts proper properties property protected protocol provide \
    provider proxy public publish pull purple push python quality query question queue quick quiet random range \
    rather reach read reader readonly ready real reason receive received recent record redacted redirect refresh \
    regex region register regular reject rejected related release reload remote remove removed rename repeat replace \
    reply report repository request requests require required reserved reset resource resources response restart \
    restricted result results resume retry return returned reverse review revoked right role root roots route router \
    rule rules running runtime safe same sample sampling sandbox saturday save scale schema scheme school scope \
    screen script search second seconds secret section secure security seed select selected self send sender \
    sensitive sent separate september sequence server servers service session sessions setting settings setup \
    several shadow shape share shared sheet shell short should show side sign signal signature signing silent \
    similar simple since single site size skip sleep slow small smart social socket software some someone something \
    soon sort sound source south space special speed split stack stage staging standard start started starting state \
    static status step still stop stopped storage store stored stream streaming string strings strong structure \
    student studio style subject submit subscribe subscription success successful such suffix summary sunday super \
    supply support supported sure switch symbol sync system table tables target task tasks team template temporary \
    tenant terminal test tester testing tests text than thank thanks that their them then there these they thing \
    things think this those thread three through throw thursday ticket time timeout times title today together token \
    tokens tomorrow tool tools topic total trace track traffic train transfer transport tree trigger true trust \
    tuesday turn type types unauthorized unavailable unchanged undefined under union unique unit unknown unless \
    unlimited unlock unset unsigned until update updated upgrade upload upper usage used user username users using \
    valid validate value values variable various vector vendor verbose verified verify version versions very video \
    view virtual visible visit wait waiting walk want warn warning watch water wednesday week weekend weight welcome \
    well were west what when where whether which while white whole width will window windows with within without \
    word words work worker workflow working workspace world would write writer wrong year yellow yesterday your zero \
    zone";

/// The maximum length of a word that is too short to tell.
const SHORT: usize = 3;

/// Returns whether a text consists of ordinary words with something else than digits between them.
pub(crate) fn is_ordinary(text: &[u8]) -> bool {
    text.is_ascii()
        && !text.iter().any(u8::is_ascii_digit)
        && text.split(|byte| !byte.is_ascii_alphabetic()).all(is_word)
}

/// Whether a word is in the list, also in the plural.
fn is_word(word: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(word).to_ascii_lowercase();
    let has = |one: &str| WORDS.split(' ').any(|word| word == one);
    word.len() <= SHORT || has(&lower) || lower.strip_suffix('s').is_some_and(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_consists_of_them_are_ordinary() {
        for text in ["production", "Production", "tools", "read-only", "not set", "access_token", "a.b", ""] {
            assert!(is_ordinary(text.as_bytes()), "{text}");
        }
        for text in ["swordfish", "hunter2", "production1", "correct horse", "p\u{e4}ss"] {
            assert!(!is_ordinary(text.as_bytes()), "{text}");
        }
    }
}
