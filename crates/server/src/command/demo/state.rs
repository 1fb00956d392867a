//! What the demo remembers between starts, in a file beside its store.
//!
//! Owns the file. It holds the owner key only until the demo is complete and the key was shown.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::exit::{During, Exit, Failure};

/// How far the demo came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    pub(super) business_id: String,
    /// The owner key, until everything is made and the key is shown.
    pub(super) key: Option<String>,
}

impl State {
    /// The state in the file; nothing when there is none.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, Failure> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).during(|| path.display()),
        };
        let state = serde_json::from_str(&text);
        let state = state.map_err(|error| Failure::new(Exit::Failure, error));
        Ok(Some(state.during(|| path.display())?))
    }

    /// Writes the file anew; a crash leaves the old or the new one.
    pub(super) fn save(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string(self);
        let text = text.map_err(|error| Failure::new(Exit::Failure, error))?;
        let mut draft = path.as_os_str().to_owned();
        draft.push(".new");
        let draft = Path::new(&draft);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let written = options.open(draft).and_then(|mut file| {
            writeln!(file, "{text}")?;
            file.sync_all()
        });
        let renamed = written.and_then(|()| std::fs::rename(draft, path));
        renamed.during(|| path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn what_is_saved_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        assert_eq!(State::load(&path).expect("no file"), None);
        for key in [Some("k".to_owned()), None] {
            let business_id = "b".to_owned();
            let state = State { business_id, key };
            state.save(&path).expect("saved");
            assert_eq!(State::load(&path).expect("a file"), Some(state));
        }
    }
}
