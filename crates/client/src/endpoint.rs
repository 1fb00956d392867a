//! Where a server is: host, port and what stands before every path.
//!
//! Owns the reading of `--url`. Must not connect.

use std::str::FromStr;

use hyper::Uri;
use hyper::header::HeaderValue;

/// A server's address as people write it: `http://127.0.0.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authority: HeaderValue,
    /// Without a slash at its end.
    pub(crate) base: String,
}

/// Why a text is not the address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not the address of a server: {why}")]
pub struct InvalidEndpoint {
    url: String,
    why: &'static str,
}

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(url: &str) -> Result<Self, InvalidEndpoint> {
        let invalid = |why| InvalidEndpoint {
            url: url.to_owned(),
            why,
        };
        let uri = Uri::from_str(url).map_err(|_| invalid("it is not a URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(invalid(
                    "this client speaks plain http only; reach a server behind TLS from its own \
                     machine or through a tunnel",
                ));
            }
            _ => return Err(invalid("it must begin with http://")),
        }
        let authority = uri.authority().ok_or_else(|| invalid("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("the credential goes into --key, not into the URL"));
        }
        if uri.query().is_some() {
            return Err(invalid("it must not have a query"));
        }
        let host = authority.host();
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| invalid("its host is not ASCII"))?,
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let authority = self.authority.to_str().unwrap_or(&self.host);
        write!(f, "http://{authority}{}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn reads_what_people_write() {
        for (url, host, port, base) in [
            ("http://127.0.0.1:8080", "127.0.0.1", 8080, ""),
            ("http://127.0.0.1:8080/", "127.0.0.1", 8080, ""),
            ("http://shop.example/abasto/", "shop.example", 80, "/abasto"),
            ("http://[::1]:9", "::1", 9, ""),
        ] {
            let endpoint: Endpoint = url.parse().expect(url);
            assert_eq!(
                (
                    endpoint.host.as_str(),
                    endpoint.port,
                    endpoint.base.as_str()
                ),
                (host, port, base),
                "{url}"
            );
        }
    }

    #[test]
    fn refuses_what_it_cannot_reach() {
        for url in [
            "",
            "127.0.0.1:8080",
            "https://shop.example",
            "ftp://shop.example",
            "http://key@shop.example",
            "http://shop.example/?a=b",
            "http://",
        ] {
            assert!(url.parse::<Endpoint>().is_err(), "{url}");
        }
    }
}
