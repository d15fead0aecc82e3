//! What the host's MCP configuration means for `countersign mcp`: how long it is waited for, and a name that is taken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::layers::{Layer, effective};
use super::{Findings, Given};
use crate::escape::visible;
use crate::pause::Length;
use crate::policy::config;

/// A server's own limit below this is passed over by the host.
const LEAST_LIMIT: Duration = Duration::from_secs(1);
/// A start-up that is given less may fail on a busy machine.
const LEAST_START: Duration = Duration::from_secs(1);

/// One server that the host would start.
struct Server {
    name: String,
    entry: Value,
    path: PathBuf,
}

impl Server {
    fn is_ours(&self) -> bool {
        let command = self.entry["command"].as_str().map(Path::new);
        command
            .and_then(Path::file_name)
            .is_some_and(|name| name == "countersign")
            && self.entry["args"][0] == "mcp"
    }

    /// How long the host waits for a call of it, where the entry says so.
    fn limit(&self) -> Option<Duration> {
        let limit = self.entry["timeout"].as_u64().map(Duration::from_millis);
        limit.filter(|limit| *limit >= LEAST_LIMIT)
    }
}

pub fn servers(layers: &[Layer], given: &Given, findings: &mut Findings) {
    let variable = |name: &'static str| {
        let set = effective(layers, &format!("/env/{name}")).map(|(value, layer)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (text, format!("{name} in {}", layer.path.display()))
        });
        let inherited = || Some((given.variables.get(name)?.clone(), name.to_owned()));
        let (text, place) = set.or_else(inherited)?;
        Some((Duration::from_millis(text.trim().parse().ok()?), place))
    };
    if let Some((start, place)) = variable("MCP_TIMEOUT").filter(|(start, _)| *start < LEAST_START) {
        let what = format!("{place} gives an MCP server {} to start", seconds(start));
        findings.warn("mcp", what, "set it to 5000 (milliseconds) or more, or remove it");
    }
    // Where the configuration does not hold, that was told.
    let wait = config::effective(given.config.as_deref(), &given.roots).map(|config| config.headless.wait);
    let wait = wait.unwrap_or_default();
    let common = variable("MCP_TOOL_TIMEOUT");
    let servers = configured(given);
    for server in &servers {
        let place = format!(
            "the MCP server `{}` in {}",
            visible(&server.name),
            server.path.display()
        );
        if server.name == "stdio" {
            let what =
                format!("{place} has a name that is taken: `--permission-prompt-tool stdio` is never this server");
            findings.warn("mcp", what, "give it another name");
        }
        if !server.is_ours() {
            continue;
        }
        let own = server.limit().map(|limit| (limit, "its `timeout`".to_owned()));
        match own.or_else(|| common.clone()).filter(|(limit, _)| *limit < wait) {
            Some((limit, by)) => findings.warn(
                "mcp",
                format!(
                    "{place} is waited for {} ({by}), but a person {}: a later answer counts for nothing",
                    seconds(limit),
                    Length(wait)
                ),
                "put in what `countersign mcp --config` prints now, or set a shorter `wait` below [headless] in your config.toml",
            ),
            None => findings.ok("mcp", format!("{place} is waited for long enough")),
        }
    }
    if let Some((limit, place)) = common.filter(|(limit, _)| *limit < wait)
        && !servers.iter().any(Server::is_ours)
    {
        let what = format!(
            "{place} ends calls of MCP servers after {}, before a person was waited for ({}); what `countersign mcp --config` \
             prints has a limit of its own",
            seconds(limit),
            Length(wait)
        );
        findings.ok("mcp", what);
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// The servers of the person, of the person for this project, and of the project.
fn configured(given: &Given) -> Vec<Server> {
    let places = &given.places;
    let own = read(&places.state);
    let project = places.project.to_string_lossy();
    let shared = places.project.join(".mcp.json");
    [
        (own["mcpServers"].clone(), places.state.clone()),
        (
            own["projects"][project.as_ref()]["mcpServers"].clone(),
            places.state.clone(),
        ),
        (read(&shared)["mcpServers"].clone(), shared),
    ]
    .into_iter()
    .flat_map(|(servers, path)| {
        let servers = match servers {
            Value::Object(servers) => servers,
            _ => serde_json::Map::new(),
        };
        let server = move |(name, entry)| Server {
            name,
            entry,
            path: path.clone(),
        };
        servers.into_iter().map(server)
    })
    .collect()
}

/// The file's JSON; what is not there or cannot be read configures no server.
fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
