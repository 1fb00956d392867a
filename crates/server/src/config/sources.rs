//! Where values come from: defaults, then a file, then the environment, then flags.
//!
//! Owns the order of the sources, the names of the keys, and the words in which a fault is told
//! (which key, from which source). The only place that reads the environment and that names
//! figment. Must not open anything but the files it is pointed to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use secrecy::ExposeSecret;

use super::unknown::unknown;
use super::{Config, without_password};

const DEFAULTS: &str = include_str!("default.toml");
/// Keys that nobody but the process should read. They have no default, and `KEY_file` names a
/// file that holds the value.
const SECRETS: [&str; 8] = [
    "platform_key",
    "cursor_secret",
    "jwt.hs256_secret",
    // Given by others, as long as they like.
    "sandbox_webhook_secret",
    "sandbox_webhook_secret_previous",
    "stripe.secret_key",
    "stripe.webhook_secret",
    "stripe.webhook_secret_previous",
];
/// Other keys without a default.
const OPTIONAL: [&str; 7] = [
    "stripe.base_url",
    "jwt.rs256_key_file",
    "jwt.eddsa_key_file",
    "jwt.jwks_file",
    "jwt.jwks_url",
    "jwt.issuer",
    "jwt.audience",
];
/// Variables with our prefix that belong to the commands, not to the configuration.
const OF_COMMANDS: [&str; 5] = ["CONFIG", "KEY", "KEY_FILE", "OUTPUT", "URL"];
/// What the defaults are called as a source.
const OF_DEFAULTS: &str = "the defaults";
const PREFIX: &str = "ABASTO_";
/// A secret shorter than this can be guessed.
const SECRET_CHARS_MIN: usize = 32;

/// Why the configuration cannot be used: which key, from where, what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub(crate) struct Invalid(Vec<String>);

impl Invalid {
    fn one(fault: impl Into<String>) -> Self {
        Self(vec![fault.into()])
    }
}

/// A key with the value that holds and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) source: String,
}

/// What the command line says about keys: (key, flag, value).
pub(crate) type Flag = (&'static str, &'static str, Value);

/// Variables of the environment, passed in so that tests can choose them.
pub(crate) type Environment = BTreeMap<String, String>;

/// The environment of this process. Variables that are not text are not ours.
pub(crate) fn environment() -> Environment {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// All sources laid over each other.
#[derive(Debug)]
pub(crate) struct Sources(Figment);

impl Sources {
    /// Reads the file and the environment.
    ///
    /// # Errors
    /// A file that cannot be read, a key that does not exist, a value of another type.
    pub(crate) fn read(
        file: Option<&Path>,
        environment: &Environment,
        flags: Vec<Flag>,
    ) -> Result<Self, Invalid> {
        let mut sources = Figment::from(Layer::defaults()?);
        if let Some(path) = file {
            sources = sources.merge(Layer::file(path)?);
        }
        for (name, value) in environment {
            if let Some(layer) = Layer::variable(name, value, environment, &sources)? {
                sources = sources.merge(layer);
            }
        }
        for (key, flag, value) in flags {
            sources = sources.merge(Layer::new(format!("the flag {flag}"), key, value));
        }
        Ok(Self(sources))
    }

    /// Another default for a key that no source has set.
    pub(crate) fn with_default(self, key: &str, whence: &str, value: Value) -> Self {
        let unset = self.source(key) == OF_DEFAULTS;
        let layer = Layer::new(whence.to_owned(), key, value);
        Self(if unset { self.0.merge(layer) } else { self.0 })
    }

    /// The configuration, when every value is usable.
    ///
    /// # Errors
    /// Every fault that was found.
    pub(crate) fn config(&self) -> Result<Config, Invalid> {
        let config: Config = self
            .0
            .extract()
            .map_err(|errors| Invalid(errors.into_iter().map(|error| told(&error)).collect()))?;
        let mut faults = Vec::new();
        let secrets = [
            &config.platform_key,
            &config.cursor_secret,
            &config.jwt.hs256_secret,
        ];
        for (key, secret) in SECRETS.into_iter().zip(secrets) {
            let chars = secret
                .as_ref()
                .map(|secret| secret.expose_secret().chars().count());
            if chars.is_some_and(|chars| chars < SECRET_CHARS_MIN) {
                faults.push(self.fault(key, "must have at least 32 characters"));
            }
        }
        for (key, missing) in [
            ("connections_max", config.connections_max == 0),
            ("header_timeout_ms", config.header_timeout_ms == 0),
            (
                "rate_limit.reads_per_second",
                config.rate_limit.reads_per_second == 0,
            ),
            (
                "rate_limit.writes_per_second",
                config.rate_limit.writes_per_second == 0,
            ),
        ] {
            if missing {
                faults.push(self.fault(key, "must be at least 1"));
            }
        }
        if faults.is_empty() {
            Ok(config)
        } else {
            Err(Invalid(faults))
        }
    }

    fn fault(&self, key: &str, what: &str) -> String {
        format!("{key} {what} (from {})", self.source(key))
    }

    fn source(&self, key: &str) -> String {
        let metadata = self.0.find_metadata(key);
        metadata.map_or_else(
            || "nowhere".to_owned(),
            |metadata| metadata.name.to_string(),
        )
    }

    /// Every key with its value and source; `secrets` says what stands for secrets.
    pub(crate) fn settings(&self, secrets: Secrets) -> Vec<Setting> {
        let keys = known_keys();
        let set = keys
            .iter()
            .filter_map(|key| Some((key, self.0.find_value(key).ok()?)));
        let shown = |key: &str, value: &Value| match (secrets, key) {
            (Secrets::Redacted, key) if SECRETS.contains(&key) => "(secret)".to_owned(),
            (Secrets::Redacted, "store") => without_password(&plain(value)),
            _ => plain(value),
        };
        set.map(|(key, value)| Setting {
            key: key.clone(),
            value: shown(key, &value),
            source: self.source(key),
        })
        .collect()
    }
}

/// Whether secrets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    Shown,
    Redacted,
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(_, text) => text.clone(),
        Value::Bool(_, flag) => flag.to_string(),
        other => match (other.to_i128(), other.to_u128()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) => number.to_string(),
            (None, None) => format!("{other:?}"),
        },
    }
}

/// An error of figment in our words.
fn told(error: &figment::Error) -> String {
    let source = error.metadata.as_ref();
    let source = source.map_or_else(|| "an unknown source".into(), |data| data.name.clone());
    format!("{}: {} (from {source})", error.path.join("."), error.kind)
}

/// Every key, from the defaults and the secrets.
fn known_keys() -> Vec<String> {
    let defaults = toml(DEFAULTS).unwrap_or_default();
    let mut keys = leaves(&defaults);
    keys.extend(SECRETS.into_iter().chain(OPTIONAL).map(str::to_owned));
    keys
}

fn leaves(dict: &Dict) -> Vec<String> {
    let nested = dict.iter().flat_map(|(name, value)| match value {
        Value::Dict(_, inner) => leaves(inner)
            .into_iter()
            .map(|key| format!("{name}.{key}"))
            .collect(),
        _ => vec![name.clone()],
    });
    nested.collect()
}

/// Takes the value of a key out of nested tables.
fn take(values: &mut Dict, key: &str) -> Option<Value> {
    match key.split_once('.') {
        None => values.remove(key),
        Some((table, rest)) => match values.get_mut(table)? {
            Value::Dict(_, inner) => take(inner, rest),
            _ => None,
        },
    }
}

/// Puts the value of a key into nested tables.
fn put(values: &mut Dict, key: &str, value: Value) {
    let Some((table, rest)) = key.split_once('.') else {
        values.insert(key.to_owned(), value);
        return;
    };
    let inner = values
        .entry(table.to_owned())
        .or_insert_with(|| Dict::new().into());
    if let Value::Dict(_, inner) = inner {
        put(inner, rest, value);
    }
}

fn toml(text: &str) -> Result<Dict, String> {
    let data = Toml::string(text).data();
    let data = data.map_err(|error| error.kind.to_string())?;
    Ok(data.into_values().next().unwrap_or_default())
}

/// One source of values under a name that a message can say.
struct Layer {
    name: String,
    values: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.values.clone()))
    }
}

impl Layer {
    fn new(name: String, key: &str, value: Value) -> Self {
        let mut values = Dict::new();
        put(&mut values, key, value);
        Self { name, values }
    }

    fn defaults() -> Result<Self, Invalid> {
        let values = toml(DEFAULTS).map_err(Invalid::one)?;
        Ok(Self {
            name: OF_DEFAULTS.to_owned(),
            values,
        })
    }

    fn file(path: &Path) -> Result<Self, Invalid> {
        let name = format!("the file {}", path.display());
        let invalid = |why: &dyn fmt::Display| Invalid::one(format!("{name}: {why}"));
        let text = std::fs::read_to_string(path).map_err(|error| invalid(&error))?;
        let mut values = toml(&text).map_err(|error| invalid(&error))?;
        for secret in SECRETS {
            let Some(file) = take(&mut values, &format!("{secret}_file")) else {
                continue;
            };
            let file = file
                .as_str()
                .ok_or_else(|| invalid(&format!("{secret}_file must be a path")))?;
            if take(&mut values, secret).is_some() {
                return Err(invalid(&format!("{secret} and {secret}_file are both set")));
            }
            put(&mut values, secret, read_secret(file, &name)?.into());
        }
        let known = known_keys();
        let strange = leaves(&values)
            .into_iter()
            .filter(|key| !known.contains(key));
        let faults: Vec<_> = strange.map(|key| unknown(&key, &name, &known)).collect();
        if !faults.is_empty() {
            return Err(Invalid(faults));
        }
        Ok(Self { name, values })
    }

    /// The layer of one variable; nothing when it is not ours.
    fn variable(
        name: &str,
        text: &str,
        environment: &Environment,
        below: &Figment,
    ) -> Result<Option<Self>, Invalid> {
        let Some(rest) = name.strip_prefix(PREFIX) else {
            return Ok(None);
        };
        if OF_COMMANDS.contains(&rest) || is_service_link(rest) {
            return Ok(None);
        }
        let source = format!("the variable {name}");
        let key = rest.to_ascii_lowercase().replace("__", ".");
        if let Some(secret) = SECRETS
            .into_iter()
            .find(|secret| key == format!("{secret}_file"))
        {
            let plain = name.trim_end_matches("_FILE");
            if environment.contains_key(plain) {
                return Err(Invalid::one(format!("{plain} and {name} are both set")));
            }
            let value = read_secret(text, &source)?;
            return Ok(Some(Self::new(source, secret, value.into())));
        }
        let known = known_keys();
        if !known.contains(&key) {
            return Err(Invalid(vec![unknown(&key, &source, &known)]));
        }
        let value = typed(text, below.find_value(&key).ok().as_ref());
        let value = value.map_err(|expected| {
            Invalid::one(format!("{key}: {text:?} is not {expected} (from {source})"))
        })?;
        Ok(Some(Self::new(source, &key, value)))
    }
}

/// A variable's text as a value of the type that the key has; text where nothing says otherwise,
/// so that a key of digits stays as it was written.
fn typed(text: &str, like: Option<&Value>) -> Result<Value, &'static str> {
    match like {
        Some(Value::Bool(..)) => match text {
            "1" | "true" => Ok(true.into()),
            "0" | "false" | "" => Ok(false.into()),
            _ => Err("true or false"),
        },
        Some(Value::Num(..)) => text
            .parse::<u64>()
            .map(Value::from)
            .map_err(|_| "a whole number"),
        _ => Ok(text.into()),
    }
}

/// Kubernetes sets these beside every container when a service is called `abasto`.
fn is_service_link(rest: &str) -> bool {
    rest.starts_with("SERVICE_") || rest == "PORT" || rest.starts_with("PORT_")
}

fn read_secret(path: &str, source: &str) -> Result<String, Invalid> {
    let text = std::fs::read_to_string(path);
    let text =
        text.map_err(|error| Invalid::one(format!("cannot read {path}: {error} (from {source})")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
