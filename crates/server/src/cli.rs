//! The command line: every command, flag and help text.
//!
//! Owns their words. Must not do anything.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::output::Format;

/// Carts, checkout, orders and inventory for many businesses, in one process.
#[derive(Debug, Parser)]
#[command(
    name = "abasto",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 ok, 1 failure, 2 usage, 3 configuration, 4 unavailable, \
                        5 partial.\nData goes to stdout, everything else to stderr."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The form of the data on stdout.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        env = "ABASTO_OUTPUT"
    )]
    pub(crate) output: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the API until SIGTERM or SIGINT.
    Serve(Serve),
    /// Serve a small bakery with a day of its orders, to look around in.
    ///
    /// The first start makes it and prints an owner key; later starts find it.
    Demo(Demo),
    /// Bring the store to the schema of this version.
    Migrate(Migrate),
    /// Check every rule that must always hold over all that is stored.
    ///
    /// Only reads, also beside a running server. Exits with 1 when something differs.
    Reconcile(Reconcile),
    /// Print the API document (OpenAPI 3.1).
    Openapi,
    /// Bring products into a running server.
    Import {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        what: Import,
    },
    /// Place the baskets of a file as real orders in a running server.
    ///
    /// A basket's id makes its idempotency key, so that the same file sent again makes no second
    /// order. Exits with 5 when an order was refused or a sum differs.
    Replay(Replay),
    /// Play the payment provider `sandbox`: send the signed message that tells what became of an
    /// order's payment.
    ///
    /// Needs a server that was started with the same secret.
    Sandbox(Sandbox),
    /// List, create and revoke API keys of the business that --key belongs to.
    Keys {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        what: Keys,
    },
    /// List and create businesses; --key is the platform key.
    Businesses {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        what: Businesses,
    },
    /// Check the configuration, or show what holds and where it comes from.
    Config {
        #[command(flatten)]
        sources: Sources,
        #[command(subcommand)]
        what: ConfigAction,
    },
    /// Ask a running server whether it is ready (for container health checks).
    Healthcheck {
        #[command(flatten)]
        at: Address,
    },
    /// Print the completions of a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// Where the configuration comes from.
#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// A TOML file with configuration.
    #[arg(long, value_name = "FILE", env = "ABASTO_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// Where everything is kept: sqlite:PATH or mongodb://HOST/DATABASE?replicaSet=NAME
    /// [default: sqlite:abasto.db; of the demo sqlite:abasto-demo.db].
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Refuse nobody for asking too often (for measurements).
    #[arg(long)]
    pub(crate) no_rate_limit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// Change nothing; say what the store lacks, and exit with 1 when it lacks something.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// Which server.
#[derive(Debug, Clone, Args)]
pub(crate) struct Address {
    /// The server's address.
    #[arg(
        long,
        env = "ABASTO_URL",
        default_value = "http://127.0.0.1:8080",
        global = true
    )]
    pub(crate) url: String,
}

/// Which server, and as whom.
#[derive(Debug, Clone, Args)]
pub(crate) struct Server {
    #[command(flatten)]
    pub(crate) at: Address,

    /// The credential. Better given by environment or file: others on the machine can see flags.
    #[arg(long, env = "ABASTO_KEY", hide_env_values = true, global = true)]
    pub(crate) key: Option<String>,

    /// A file that holds the credential.
    #[arg(
        long,
        env = "ABASTO_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "key",
        global = true
    )]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Create and update products from a CSV or NDJSON file.
    ///
    /// CSV needs a header with sku, name and salePrice; taxRate, active and maxPerOrder are known,
    /// every other column becomes an attribute. A bad row stops no other row; bad rows are listed
    /// and the command then exits with 5.
    Products {
        /// The file; `-` reads stdin. NDJSON when it ends in .ndjson or .jsonl, else CSV.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) server: Server,

    /// NDJSON of baskets, plain or gzip.
    pub(crate) file: PathBuf,

    /// How many clients place orders at once.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) clients: u16,

    /// First create the branches that the file names and receive enough stock of every product.
    #[arg(long)]
    pub(crate) prepare: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sandbox {
    #[command(flatten)]
    pub(crate) server: Server,

    /// The order; the message is about its newest attempt to pay.
    #[arg(value_name = "ORDER")]
    pub(crate) order: String,

    /// What happened at the provider.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) event: SandboxEvent,

    /// Another amount than that of the attempt; that of a refund, for example.
    #[arg(long)]
    pub(crate) amount: Option<String>,

    /// The secret that signs it: whsec_ and the base64 of at least 24 bytes.
    #[arg(long, env = "ABASTO_SANDBOX_WEBHOOK_SECRET", hide_env_values = true)]
    pub(crate) secret: String,
}

/// What a provider may tell.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum SandboxEvent {
    /// The money came in.
    #[default]
    Captured,
    /// The money is reserved.
    Authorized,
    /// The buyer could not pay.
    Failed,
    /// A refund reached the buyer.
    RefundSucceeded,
    /// A refund did not.
    RefundFailed,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// List the keys, revoked ones included.
    List,
    /// Create a key; its secret is shown once.
    Create {
        /// What it is for.
        #[arg(long)]
        name: String,
        /// What it may do.
        #[arg(long, value_enum)]
        role: Role,
        /// A branch id it is limited to; may be repeated.
        #[arg(long = "branch", value_name = "ID")]
        branches: Vec<String>,
        /// The customer it acts as (role customer).
        #[arg(long, value_name = "ID")]
        customer: Option<String>,
    },
    /// Revoke a key.
    Revoke {
        /// Its id.
        id: String,
    },
}

/// The roles of the contract.
#[derive(Debug, Clone, Copy, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Owner,
    Manager,
    Staff,
    Courier,
    Customer,
    Service,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Businesses {
    /// List the businesses.
    List,
    /// Create a business; its owner key is shown once.
    Create {
        /// Its name.
        #[arg(long)]
        name: String,
        /// Its currency (ISO 4217).
        #[arg(long)]
        currency: String,
        /// Its IANA time zone.
        #[arg(long)]
        time_zone: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Say whether the configuration can be used: every value, and every file that it names.
    Check,
    /// Print every key that has a value, with its source.
    Show {
        /// Hide secrets and passwords.
        #[arg(long)]
        redacted: bool,
    },
}
