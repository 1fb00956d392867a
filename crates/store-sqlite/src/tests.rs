//! Tests of what only this adapter can show.
