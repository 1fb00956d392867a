//! The way from every older schema, and files that are not ours.

use std::path::Path;

use rusqlite::Connection;

use crate::error::OpenError;
use crate::migration::{Migrated, differences, known, run};
use crate::{Options, SqliteStore, check, migrate};

fn file(folder: &Path, schema: i64) -> std::path::PathBuf {
    let path = folder.join(format!("schema-{schema}.db"));
    let (mut connection, _) = crate::open::writing(&path).unwrap();
    run(&mut connection, 0, schema).unwrap();
    path
}

#[test]
fn every_older_schema_comes_to_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    for schema in 0..=known() {
        let path = file(folder.path(), schema);
        let lacks = check(&path).unwrap();
        assert_eq!(lacks.is_empty(), schema == known(), "{lacks:?}");
        if (1..known()).contains(&schema) {
            let refused = SqliteStore::open(Options::new(&path)).unwrap_err();
            assert!(matches!(refused, OpenError::Older { .. }), "{refused}");
        }
        let done = migrate(&path).unwrap();
        assert_eq!(
            done,
            Migrated {
                from: schema,
                to: known()
            }
        );
        assert_eq!(check(&path).unwrap(), Vec::<String>::new());
        let connection = Connection::open(&path).unwrap();
        assert_eq!(differences(&connection).unwrap(), []);
        assert_eq!(migrate(&path).unwrap().from, known());
        SqliteStore::open(Options::new(&path)).unwrap();
    }
}

#[test]
fn a_newer_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), known());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", known() + 1)
        .unwrap();
    let text = "knows only up to";
    assert!(
        SqliteStore::open(Options::new(&path))
            .unwrap_err()
            .to_string()
            .contains(text)
    );
    assert!(migrate(&path).unwrap_err().to_string().contains(text));
    assert!(check(&path).unwrap_err().to_string().contains(text));
}

#[test]
fn a_foreign_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("other.db");
    Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE other (x)")
        .unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, but long enough to be read as one\n".repeat(40),
    )
    .unwrap();
    for path in [&database, &text] {
        let before = std::fs::read(path).unwrap();
        let open = SqliteStore::open(Options::new(path)).unwrap_err();
        assert!(matches!(open, OpenError::Foreign(_)), "{open:?}");
        assert!(matches!(migrate(path), Err(OpenError::Foreign(_))));
        assert!(matches!(check(path), Err(OpenError::Foreign(_))));
        assert!(std::fs::read(path).unwrap() == before, "{}", path.display());
    }
}

#[test]
fn a_missing_file_is_made_only_to_be_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    assert!(matches!(check(&path), Err(OpenError::Missing(_))));
    assert!(matches!(
        SqliteStore::open_read_only(&path),
        Err(OpenError::Missing(_))
    ));
    assert!(!path.exists());
    SqliteStore::open(Options::new(&path)).unwrap();
    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
}
