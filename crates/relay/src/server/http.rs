//! The protocol over HTTP: docs/protocol.md says what each path takes and gives.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::HttpBody;
use axum::extract::{FromRequest, FromRequestParts, MatchedPath, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use countersign::pause::Length;
use countersign_protocol::canonical::sha256;
use countersign_protocol::state::{Pending, Presence};
use countersign_protocol::{
    Code, MAX_BODY, Refusal, Report, Request, SignedCard, SignedVerdict, Status, VERSION, VERSION_HEADER, Withdrawal,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::bus::Bus;
use super::clients::{Client, Clients, Role};
use super::limits::Rates;
use super::log::Log;
use super::metrics::{Metrics, Now};
use super::online::Online;
use super::rest::{self, Rest};
use super::store::{Changed, New, Put, Sql, Store};
use super::{now, told};
use crate::clock;

/// The longest time that a poll is held, in seconds.
const MAX_WAIT: u64 = 30;

pub struct Relay<S> {
    pub store: Store<S>,
    pub bus: Arc<Bus>,
    pub clients: Clients,
    pub online: Online,
    pub rates: Rates,
    pub metrics: Metrics,
    pub log: Log,
    /// The open connections.
    pub connections: AtomicUsize,
    /// What other relays are told of.
    pub told: mpsc::UnboundedSender<String>,
    /// True once the relay is to end.
    pub ending: watch::Sender<bool>,
}

/// Why a call is refused.
#[derive(Debug)]
pub struct Refused {
    code: Code,
    message: String,
    /// How long to wait before the next try.
    after: Option<Duration>,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let refusal = Refusal {
            error: self.code,
            message: self.message,
        };
        let mut answer = (status, Json(refusal)).into_response();
        answer.extensions_mut().insert(self.code);
        if let Some(after) = self.after {
            // Rounded up, for a second too early is refused again.
            answer
                .headers_mut()
                .insert(header::RETRY_AFTER, (after.as_secs() + 1).into());
        }
        answer
    }
}

type Answer<T> = Result<T, Refused>;
type App<S> = State<Arc<Relay<S>>>;

fn refused(code: Code, message: impl Into<String>) -> Refused {
    Refused {
        code,
        message: message.into(),
        after: None,
    }
}

/// The paths of the protocol.
pub fn router<S: Sql + 'static>(relay: Arc<Relay<S>>) -> Router {
    Router::new()
        .route("/v1/requests", post(put))
        .route("/v1/requests/{id}", get(poll).delete(withdraw))
        .route("/v1/requests/{id}/decision", post(decide))
        .route("/v1/requests/{id}/consume", post(consume))
        .route("/v1/requests/{id}/outcome", post(outcome))
        .route("/v1/pending", get(pending))
        .route("/v1/presence", get(presence))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .fallback(|| async { refused(Code::Unknown, "there is no such path") })
        .method_not_allowed_fallback(|| async { refused(Code::Method, "this path does not take this method") })
        .layer(from_fn_with_state(Arc::clone(&relay), gate))
        .with_state(relay)
}

/// Whose token came with a request.
#[derive(Clone)]
struct Who(Option<Arc<Client>>);

/// What every request passes, before anything of its body is read, and every answer.
async fn gate<S: Sql + 'static>(State(relay): App<S>, request: axum::extract::Request, next: Next) -> Response {
    let begun = Instant::now();
    let (mut request, rest) = Rest::of(request);
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let id = request_id(&route, request.uri());
    let client = relay.who(request.headers());
    let mut answer = match relay.admit(&request, client.as_deref()) {
        Ok(()) => {
            request.extensions_mut().insert(Who(client.clone()));
            next.run(request).await
        }
        Err(refused) => {
            drop(request);
            refused.into_response()
        }
    };
    rest.read().await;
    if answer.status().as_u16() >= 400 && answer.extensions().get::<Code>().is_none() {
        answer = refused(Code::Form, "the path or the query is not of the protocol's form").into_response();
    }
    let version = HeaderValue::from_static(VERSION);
    answer.headers_mut().insert(VERSION_HEADER, version);

    let status = answer.status().as_u16();
    let word = answer.extensions().get::<Code>().map(|code| json!(code));
    relay
        .metrics
        .answered(&route, status, word.as_ref().and_then(|word| word.as_str()));
    let is_watching = matches!(route.as_str(), "/health" | "/metrics") && status == 200;
    if !is_watching {
        let mut line = json!({"method": method.as_str(), "route": route, "status": status});
        line["ms"] = json!(begun.elapsed().as_millis());
        if let Some(client) = client {
            line["client"] = json!(client.name);
        }
        if let Some(id) = id {
            line["id"] = json!(id);
        }
        if let Some(word) = word {
            line["error"] = word;
        }
        relay.log.write("request", line);
    }
    answer
}

/// The id in the path, if it has the form of one: what else stands there is nobody's to write down.
fn request_id(route: &str, uri: &Uri) -> Option<String> {
    let id = uri.path().split('/').nth(3).filter(|_| route.contains("{id}"))?;
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Whether a Host header names this machine's loopback. A page whose own name was turned to point here is thereby kept out.
fn is_loopback(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

impl<S: Sql> Relay<S> {
    fn who(&self, headers: &HeaderMap) -> Option<Arc<Client>> {
        let token = headers
            .get(header::AUTHORIZATION)?
            .to_str()
            .ok()?
            .strip_prefix("Bearer ")?;
        self.clients.of(token)
    }

    /// What is refused whatever the request is for.
    fn admit(&self, request: &axum::extract::Request, client: Option<&Client>) -> Answer<()> {
        if !request.headers().get(header::HOST).is_some_and(is_loopback) {
            let message = "the Host header must name this machine's loopback, as localhost or 127.0.0.1";
            return Err(refused(Code::Unknown, message));
        }
        if !request.uri().path().starts_with("/v1/") {
            return Ok(());
        }
        let version = request.headers().get(VERSION_HEADER);
        if version.is_none_or(|version| version != VERSION) {
            let message =
                format!("this relay speaks version {VERSION} of the protocol, and {VERSION_HEADER} must say so");
            return Err(refused(Code::Version, message));
        }
        let client = client.ok_or_else(|| refused(Code::Token, "a bearer token that is known is needed"))?;
        self.rates.take(&client.name, Instant::now()).map_err(|wait| Refused {
            after: Some(wait),
            ..refused(Code::Rate, "too many requests in a short time")
        })
    }

    /// Whoever was struck from the clients while a request was held is told nothing more.
    fn still(&self, client: &Client) -> Answer<()> {
        match self.clients.still(client) {
            true => Ok(()),
            false => Err(refused(Code::Token, "this token is no longer known")),
        }
    }

    fn broken(&self, error: anyhow::Error) -> Refused {
        self.log.write("store", json!({"error": format!("{error:#}")}));
        Refused {
            after: Some(Duration::ZERO),
            ..refused(
                Code::Unavailable,
                "the relay cannot keep or read anything at present; its log says why",
            )
        }
    }

    /// Wakes whoever waits for this request, here and at other relays.
    pub fn woken(&self, id: &str) {
        self.bus.changed(id);
        // Nobody is told any more when the relay ends.
        let _ = self.told.send(id.to_owned());
    }

    /// The request after a change, counted by what it became.
    fn changed(&self, changed: anyhow::Result<Changed>, became: &'static str) -> Answer<(Request, i64)> {
        match changed.map_err(|error| self.broken(error))? {
            Changed::Done(request, after) => {
                self.metrics.requests(became, 1);
                self.woken(&request.id);
                Ok((request, after))
            }
            Changed::Again(request, after) => Ok((request, after)),
            Changed::Not(request) => Err(match request.status {
                Status::Withdrawn => refused(Code::Withdrawn, "the question was taken back"),
                Status::Expired => refused(Code::Expired, "the time of the question has passed"),
                Status::Consumed if became == "consumed" => {
                    refused(Code::AlreadyConsumed, "the verdict was taken already")
                }
                Status::Decided | Status::Consumed => {
                    let by = request.verdict.as_ref().map_or("", |verdict| verdict.sig.kid.as_str());
                    let name = self
                        .clients
                        .known()
                        .values()
                        .find(|client| client.key.id() == by)
                        .map(|by| by.name.clone());
                    let name = name.unwrap_or_default();
                    // By the device's clock, for a person.
                    let at = request.verdict.map_or(0, |verdict| verdict.verdict.decided_at);
                    let since = clock::now().saturating_sub(at);
                    let since = Length(Duration::from_millis(since));
                    let message = format!("it was decided already, by {name}, {since} ago");
                    refused(Code::AlreadyDecided, message)
                }
                Status::Pending => refused(Code::Undecided, "nobody has decided yet"),
            }),
            Changed::Unknown => Err(unknown()),
        }
    }
}

fn unknown() -> Refused {
    refused(Code::Unknown, "there is no such request")
}

fn of_role(parts: &Parts, role: Role) -> Answer<Arc<Client>> {
    match parts.extensions.get::<Who>() {
        Some(Who(Some(client))) if client.role == role => Ok(Arc::clone(client)),
        Some(Who(Some(_))) => Err(refused(Code::Role, "this token is for something else")),
        _ => Err(refused(Code::Token, "a bearer token that is known is needed")),
    }
}

/// The client of a request, which asks.
struct Machine(Arc<Client>);

impl<T: Sync> FromRequestParts<T> for Machine {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &T) -> Answer<Self> {
        of_role(parts, Role::Machine).map(Machine)
    }
}

/// The client of a request, which answers.
struct Approver(Arc<Client>);

impl<T: Sync> FromRequestParts<T> for Approver {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &T) -> Answer<Self> {
        of_role(parts, Role::Approver).map(Approver)
    }
}

/// A whole body of the protocol, and the SHA-256 of how it was written.
struct Body<T> {
    value: T,
    sha256: String,
}

impl<T: DeserializeOwned + Serialize, A: Sync> FromRequest<A> for Body<T> {
    type Rejection = Refused;

    async fn from_request(request: axum::extract::Request, _: &A) -> Answer<Self> {
        let body = tokio::time::timeout(rest::WITHIN, whole(request.into_body())).await;
        let body = body.map_err(|_| refused(Code::Form, "the body did not come in time"))??;
        let value = countersign_protocol::read(&body).map_err(|error| refused(Code::Form, error.to_string()))?;
        Ok(Body {
            value,
            sha256: sha256(&body),
        })
    }
}

/// Every byte of a body that is not too long.
async fn whole(mut body: axum::body::Body) -> Answer<Vec<u8>> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| refused(Code::Form, "the body did not come whole"))?;
        let data = frame.into_data().unwrap_or_default();
        length += data.len();
        if length > MAX_BODY {
            return Err(refused(Code::TooLarge, format!("a body has at most {MAX_BODY} bytes")));
        }
        bytes.extend(data);
    }
    Ok(bytes)
}

/// The Idempotency-Key of a request, if it has one.
fn idempotency_key(headers: &HeaderMap) -> Answer<Option<&str>> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = value.to_str().ok().filter(|key| (16..=128).contains(&key.len()));
    key.map(Some).ok_or_else(unfit_key)
}

fn unfit_key() -> Refused {
    refused(
        Code::IdempotencyKey,
        "an Idempotency-Key of 16 to 128 characters is needed",
    )
}

async fn put<S: Sql + 'static>(
    State(relay): App<S>,
    Machine(client): Machine,
    headers: HeaderMap,
    body: Body<SignedCard>,
) -> Answer<Response> {
    let key = idempotency_key(&headers)?.ok_or_else(unfit_key)?;
    let card = body.value;
    card.verify(&client.key)
        .map_err(|error| refused(Code::Card, error.to_string()))?;
    let new = New {
        machine: &client.name,
        idempotency: key,
        body: &body.sha256,
        card: &card,
    };
    match relay
        .store
        .put(&new, now())
        .await
        .map_err(|error| relay.broken(error))?
    {
        Put::Created(request) => {
            relay.metrics.requests("created", 1);
            relay.woken(&request.id);
            Ok((StatusCode::CREATED, Json(request)).into_response())
        }
        Put::Replayed(request) => Ok(Json(request).into_response()),
        Put::Conflict => {
            let message = "this key was used for another card, or this card was put with another key";
            Err(refused(Code::IdempotencyConflict, message))
        }
        Put::Full => Err(Refused {
            after: Some(Duration::from_secs(4)),
            ..refused(Code::TooManyPending, "too many requests of this machine wait already")
        }),
    }
}

#[derive(Deserialize)]
struct Wait {
    #[serde(default)]
    wait: u64,
    /// The revision that the caller knows.
    #[serde(default)]
    revision: u64,
}

impl Wait {
    fn end(&self) -> tokio::time::Instant {
        tokio::time::Instant::now() + Duration::from_secs(self.wait.min(MAX_WAIT))
    }
}

async fn poll<S: Sql + 'static>(
    State(relay): App<S>,
    Machine(client): Machine,
    Path(id): Path<String>,
    Query(wait): Query<Wait>,
) -> Answer<Json<Request>> {
    let listener = relay.bus.listen(&id);
    let mut ending = relay.ending.subscribe();
    let end = wait.end();
    loop {
        let change = listener.next();
        relay.still(&client)?;
        let request = relay.store.poll(&id, &client.name, now()).await;
        let request = request.map_err(|error| relay.broken(error))?.ok_or_else(unknown)?;
        if request.status != Status::Pending || request.revision > wait.revision && wait.revision > 0 {
            return Ok(Json(request));
        }
        tokio::select! {
            () = change => {}
            () = tokio::time::sleep_until(end) => return Ok(Json(request)),
            () = told(&mut ending) => return Ok(Json(request)),
        }
    }
}

async fn withdraw<S: Sql + 'static>(
    State(relay): App<S>,
    Machine(client): Machine,
    Path(id): Path<String>,
    body: Body<Withdrawal>,
) -> Answer<Json<Request>> {
    let withdrawn = relay.store.withdraw(&id, &client.name, body.value.why, now()).await;
    match withdrawn {
        // To take back what has ended is to say it twice.
        Ok(Changed::Not(request)) => Ok(Json(request)),
        other => relay.changed(other, "withdrawn").map(|(request, _)| Json(request)),
    }
}

async fn decide<S: Sql + 'static>(
    State(relay): App<S>,
    Approver(client): Approver,
    Path(id): Path<String>,
    body: Body<SignedVerdict>,
) -> Answer<Json<Request>> {
    let verdict = body.value;
    let request = relay.store.get(&id, now()).await.map_err(|error| relay.broken(error))?;
    let card = request.ok_or_else(unknown)?.card.card;
    verdict
        .verify(std::slice::from_ref(&client.key), &card)
        .map_err(|error| refused(Code::Verdict, error.to_string()))?;
    let (request, after) = relay.changed(relay.store.decide(&id, &verdict, now()).await, "decided")?;
    relay.metrics.decided(after);
    Ok(Json(request))
}

async fn consume<S: Sql + 'static>(
    State(relay): App<S>,
    Machine(client): Machine,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer<Json<Request>> {
    // A secret of the process that asks, of which no more is kept than of a token.
    let key = idempotency_key(&headers)?.map(|key| sha256(key.as_bytes()));
    let consumed = relay.store.consume(&id, &client.name, key.as_deref(), now()).await;
    relay.changed(consumed, "consumed").map(|(request, _)| Json(request))
}

async fn outcome<S: Sql + 'static>(
    State(relay): App<S>,
    Machine(client): Machine,
    Path(id): Path<String>,
    body: Body<Report>,
) -> Answer<Json<Request>> {
    let noted = relay.store.note(&id, &client.name, body.value.outcome, now()).await;
    match noted.map_err(|error| relay.broken(error))? {
        Changed::Done(request, _) | Changed::Again(request, _) | Changed::Not(request) => Ok(Json(request)),
        Changed::Unknown => Err(unknown()),
    }
}

/// What waits, as soon as it is other than what the caller knows.
async fn pending<S: Sql + 'static>(
    State(relay): App<S>,
    Approver(client): Approver,
    Query(wait): Query<Wait>,
) -> Answer<Json<Pending>> {
    relay.online.asks(&client.name);
    let mut changes = relay.bus.changes();
    let mut ending = relay.ending.subscribe();
    if wait.wait > 0 && *changes.borrow_and_update() == wait.revision {
        tokio::select! {
            _ = changes.changed() => {}
            () = tokio::time::sleep_until(wait.end()) => {}
            () = told(&mut ending) => {}
        }
    }
    relay.still(&client)?;
    relay.online.asks(&client.name);
    let revision = *changes.borrow_and_update();
    let requests = relay.store.pending(now()).await.map_err(|error| relay.broken(error))?;
    Ok(Json(Pending { revision, requests }))
}

/// Who could answer.
async fn presence<S: Sql + 'static>(State(relay): App<S>, _: Machine) -> Json<Presence> {
    let (paired, online) = relay.online.count(&relay.clients);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Json(Presence {
        paired: count(paired),
        online: count(online),
    })
}

/// Whether requests can be kept.
async fn health<S: Sql + 'static>(State(relay): App<S>) -> Answer<Response> {
    relay.store.is_writable().await.map_err(|error| relay.broken(error))?;
    let own = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "protocol": VERSION});
    Ok(Json(own).into_response())
}

async fn metrics<S: Sql + 'static>(State(relay): App<S>) -> Answer<Response> {
    let (paired, online) = relay.online.count(&relay.clients);
    let text = relay.metrics.text(Now {
        pending: relay.store.waiting().await.map_err(|error| relay.broken(error))?,
        listeners: relay.bus.listeners(),
        connections: relay.connections.load(Ordering::Relaxed),
        paired,
        online,
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
