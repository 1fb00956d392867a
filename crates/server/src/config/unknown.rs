//! What is said of a key that does not exist.
//!
//! Owns the guess at what was meant. Must not know which keys there are.

/// The fault, with the key that was probably meant.
pub(super) fn unknown(key: &str, source: &str, known: &[String]) -> String {
    let near = known.iter().find(|candidate| is_near(key, candidate));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    format!("{key} is not a key of the configuration (from {source}){hint}")
}

/// Whether two keys differ in dots, underscores and at most two letters.
fn is_near(key: &str, candidate: &str) -> bool {
    let bare = |text: &str| text.replace(['.', '_', '-'], "").to_ascii_lowercase();
    edits(&bare(key), &bare(candidate)) <= 2
}

/// How many letters must be added, dropped or changed to come from one text to the other.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, left) in from.bytes().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], index + 1);
        for (at, right) in to.bytes().enumerate() {
            let changed = corner + usize::from(left != right);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}
