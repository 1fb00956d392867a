//! Secrets that the process makes itself, and the file in which one is found again.
//!
//! Owns their randomness and the file, which only its owner can read. Must not know what a secret
//! is for.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::exit::{During, Exit, Failure};

/// 32 random bytes.
pub(crate) fn random() -> Result<[u8; 32], Failure> {
    let mut secret = [0; 32];
    let filled = getrandom::fill(&mut secret);
    filled.map_err(|error| Failure::new(Exit::Failure, format_args!("no randomness: {error}")))?;
    Ok(secret)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The 32 bytes in the file; made when there is no file yet.
pub(crate) fn find_or_make(path: &Path) -> Result<[u8; 32], Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(text.trim())
            .ok_or_else(|| Failure::new(Exit::Config, "it does not hold 64 hexadecimal digits"))
            .during(|| path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => make(path),
        Err(error) => Err(error).during(|| path.display()),
    }
}

fn make(path: &Path) -> Result<[u8; 32], Failure> {
    let secret = random()?;
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let mut file = file.during(|| path.display())?;
    let written = writeln!(file, "{}", hex(&secret)).and_then(|()| file.sync_all());
    written.during(|| path.display())?;
    Ok(secret)
}

fn parse(digits: &str) -> Option<[u8; 32]> {
    let mut secret = [0; 32];
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::find_or_make;

    #[test]
    fn it_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        let made = find_or_make(&path).expect("made");
        assert_eq!(find_or_make(&path).expect("found"), made);
        let mode = std::fs::metadata(&path)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let other = find_or_make(&folder.path().join("other")).expect("made");
        assert_ne!(made, other);
    }

    #[test]
    fn a_torn_file_is_not_taken_for_a_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        for text in ["", "abc", &"é".repeat(32)] {
            std::fs::write(&path, text).expect("written");
            let failure = find_or_make(&path).expect_err("torn");
            let message = failure.message().expect("a line");
            assert!(message.contains("secret"), "{message}");
        }
    }
}
