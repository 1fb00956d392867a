//! Problems (RFC 9457) as the server tells them and as people read them.
//!
//! Owns the readable form. Must not know which codes there are.

use std::fmt;

use serde::Deserialize;

/// Why the server refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable code.
    pub code: String,
    /// The code in words.
    pub title: String,
    /// What went wrong this time.
    pub detail: String,
    /// The request, as it stands in the server's log.
    pub request_id: String,
    /// Faults of the input, each with its place.
    pub errors: Vec<Fault>,
    /// Everything else that the problem says.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

/// One fault of the input.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Fault {
    /// Where (RFC 6901).
    pub pointer: String,
    /// The stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// Reads the body of a refusal; one that is no problem document still gives its status.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        let problem = serde_json::from_slice::<Self>(body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(body);
            Self {
                detail: text.chars().take(200).collect(),
                ..Self::default()
            }
        });
        Self { status, ..problem }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        if !self.code.is_empty() {
            write!(f, " {}", self.code)?;
        }
        let said = [&self.detail, &self.title];
        if let Some(said) = said.into_iter().find(|text| !text.is_empty()) {
            write!(f, ": {said}")?;
        }
        for fault in &self.errors {
            write!(f, "; {} {}", fault.pointer, fault.message)?;
        }
        if !self.request_id.is_empty() {
            write!(f, " (request {})", self.request_id)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn reads_as_one_sentence() {
        let body = br#"{"type":"/problems/validation","title":"Not valid","status":422,
            "code":"validation","detail":"The body has faults.","requestId":"r1",
            "errors":[{"pointer":"/name","code":"required","message":"is missing"}],"extra":1}"#;
        let problem = Problem::read(422, body);
        assert_eq!(
            problem.to_string(),
            "422 validation: The body has faults.; /name is missing (request r1)"
        );
        assert_eq!(problem.more["extra"], 1);
    }

    #[test]
    fn what_is_no_problem_document_keeps_its_status() {
        assert_eq!(
            Problem::read(502, b"<html>Bad gateway").to_string(),
            "502: <html>Bad gateway"
        );
        assert_eq!(Problem::read(500, b"").to_string(), "500");
    }
}
