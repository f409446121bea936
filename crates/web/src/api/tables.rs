//! Calls about tables.

use super::events;
use super::{json, json_text, read};
use crate::ApiError;
use crate::app::App;
use crate::place::{Place, Rematch};
use crate::requests::{Advice, ControlRequest, Move, NewTable, Position, RematchRequest, TakeBack, WithToken};
use crate::table::{Control, Setup, Sitter, Table, Viewer};
use crate::tables::{MAX_DELAY, Made};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use surmise::referee::Record;

/// A table that was made.
#[derive(Debug, Serialize)]
struct MadeJson {
    id: String,
    seats: BTreeMap<String, SeatJson>,
    watch: String,
}

#[derive(Debug, Serialize)]
struct SeatJson {
    token: String,
    url: String,
}

#[derive(Debug, Serialize)]
struct UploadedJson {
    id: String,
    watch: String,
}

/// `POST /api/tables`.
pub async fn create(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, ApiError> {
    let request: NewTable = read(&body)?;
    let made = app.opening(move |app| app.tables.create(&request)).await?;
    json(&made_json(&made))
}

fn made_json(made: &Made) -> MadeJson {
    let table = &made.place;
    let seat = |(role, token): (&usize, &String)| {
        let seat = SeatJson {
            token: token.clone(),
            url: table.url(token),
        };
        (table.roles[*role].clone(), seat)
    };
    MadeJson {
        id: table.id.clone(),
        seats: made.tokens.iter().map(seat).collect(),
        watch: table.url(&table.watch),
    }
}

/// `GET /api/tables/ID`.
pub async fn view(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<WithToken>,
) -> Result<Response, ApiError> {
    let (place, viewer) = app.tables.visit(&id, &query.token).await?;
    Ok(shown(&place, viewer))
}

fn shown(place: &Place, viewer: Viewer) -> Response {
    json_text(place.shown(viewer).1.to_string())
}

/// `GET /api/tables/ID/events`.
pub async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<WithToken>,
) -> Result<Response, ApiError> {
    let (place, viewer) = app.tables.visit(&id, &query.token).await?;
    let permit = app.stream_permit()?;
    Ok(events::stream(place, viewer, permit))
}

/// Changes a table for a viewer, moves it on, and answers with the view.
async fn change(
    app: &Arc<App>,
    id: &str,
    token: &str,
    change: impl FnOnce(&mut Table, &Place, Viewer) -> Result<(), ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let (place, viewer) = app.tables.visit(id, token).await?;
    let there = place.clone();
    app.quick(move |app| {
        {
            let mut table = there.lock();
            change(&mut table, &there, viewer)?;
            there.publish(&table);
            app.tables.save(&there, &table);
        }
        app.tables.advance(&there);
        Ok(())
    })
    .await?;
    #[cfg(test)]
    if let leaked @ 1.. = crate::leaks::truth(crate::leaks::Leak::Header, &place.lock()) {
        let mut response = shown(&place, viewer);
        response.headers_mut().insert("x-leak", leaked.into());
        return Ok(response);
    }
    Ok(shown(&place, viewer))
}

fn seat_of(viewer: Viewer) -> Result<usize, ApiError> {
    match viewer {
        Viewer::Seat(role) => Ok(role),
        Viewer::Watcher => Err(ApiError::new(
            403,
            "not-yours",
            "a watcher has no seat",
            "use the link of a seat",
        )),
    }
}

/// `POST /api/tables/ID/move`.
pub async fn play(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: Move = read(&body)?;
    let token = request.token;
    change(&app, &id, &token, move |table, _, viewer| {
        table.submit(seat_of(viewer)?, &request.mv)
    })
    .await
}

/// `POST /api/tables/ID/undo`.
pub async fn undo(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: TakeBack = read(&body)?;
    change(&app, &id, &request.token, move |table, _, viewer| {
        table.take_back(seat_of(viewer)?, request.agree.unwrap_or(true))
    })
    .await
}

/// `POST /api/tables/ID/control`.
pub async fn control(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: ControlRequest = read(&body)?;
    let token = request.token.clone();
    let what = control_of(&request)?;
    let tables = app.tables.clone();
    change(&app, &id, &token, move |table, place, viewer| {
        if viewer != Viewer::Watcher || table.has_people() {
            return Err(ApiError::new(
                403,
                "not-yours",
                "only the watcher of a table without people controls it",
                "open a table whose seats are all players",
            ));
        }
        tables.end_rest(place);
        table.control(what);
        Ok(())
    })
    .await
}

fn control_of(request: &ControlRequest) -> Result<Control, ApiError> {
    Ok(match (request.what.as_str(), request.delay) {
        ("stop", _) => Control::Stop,
        ("go", _) => Control::Go,
        ("step", _) => Control::Step,
        ("delay", Some(delay)) if delay <= MAX_DELAY => Control::Delay(delay),
        _ => {
            return Err(ApiError::bad(
                "request",
                format!("`do` is stop, go, step or delay, with a delay of 0 to {MAX_DELAY} ms"),
                "docs/table.md has an example",
            ));
        }
    })
}

/// `POST /api/tables/ID/hint`.
pub async fn hint(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: Advice = read(&body)?;
    let (place, viewer) = app.tables.visit(&id, &request.token).await?;
    let role = seat_of(viewer)?;
    let hint = app.thinking(move |app| {
        let player = app.tables.adviser(request.player.as_deref())?;
        let question = place.lock().question(role)?;
        question.hint(&player, &app.tables.stop)
    });
    json(&hint.await?)
}

/// `POST /api/tables/ID/why`.
pub async fn why(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: Advice = read(&body)?;
    let (place, viewer) = app.tables.visit(&id, &request.token).await?;
    let role = seat_of(viewer)?;
    let why = app.thinking(move |app| {
        let player = app.tables.adviser(request.player.as_deref())?;
        let question = place.lock().question(role)?;
        question.why(request.round, &player, &app.tables.stop)
    });
    json(&why.await?)
}

/// `GET /api/tables/ID/belief`.
pub async fn belief(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<Position>,
) -> Result<Response, ApiError> {
    let (place, viewer) = app.tables.visit(&id, &query.token).await?;
    let belief = app.quick(move |_| {
        let question = place
            .lock()
            .belief_question(viewer, query.round, query.role.as_deref())?;
        question.answer()
    });
    json(&belief.await?)
}

/// `GET /api/tables/ID/replay`.
pub async fn replay(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<Position>,
) -> Result<Response, ApiError> {
    let (place, viewer) = app.tables.visit(&id, &query.token).await?;
    let replay = app.quick(move |_| place.lock().replay(viewer, query.round, query.role.as_deref()));
    json(&replay.await?)
}

/// `GET /api/tables/ID/record`.
pub async fn record(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(query): Query<WithToken>,
) -> Result<Response, ApiError> {
    let (place, _) = app.tables.visit(&id, &query.token).await?;
    let record = app.quick(move |_| {
        let table = place.lock();
        match table.is_over() {
            true => Ok(table.record().to_json().to_string()),
            false => Err(ApiError::new(
                403,
                "not-finished",
                "the game is not over",
                "the record can be had when it is over",
            )),
        }
    });
    Ok(json_text(record.await?))
}

/// `POST /api/records`.
pub async fn upload(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, ApiError> {
    let value: serde_json::Value = read(&body)?;
    let uploaded = app.opening(move |app| {
        let record = Record::from_json(&value).map_err(surmise::Error::Record)?;
        let place = app.tables.upload(record)?;
        Ok(UploadedJson {
            id: place.id.clone(),
            watch: place.url(&place.watch),
        })
    });
    json(&uploaded.await?)
}

/// `POST /api/tables/ID/rematch`.
pub async fn rematch(State(app): State<Arc<App>>, Path(id): Path<String>, body: Bytes) -> Result<Response, ApiError> {
    let request: RematchRequest = read(&body)?;
    let (place, viewer) = app.tables.visit(&id, &request.token).await?;
    let made = app.opening(move |app| {
        let rematch = match made_already(&place) {
            Some(rematch) => rematch,
            None => make_rematch(app, &place, viewer, request.seats.as_ref())?,
        };
        Ok(rematch_json(&rematch, viewer))
    });
    json(&made.await?)
}

fn made_already(place: &Place) -> Option<Rematch> {
    place.rematch.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The link of the own seat only: every person finds the own link in the view of the old table.
fn rematch_json(rematch: &Rematch, viewer: Viewer) -> MadeJson {
    let own = match viewer {
        Viewer::Seat(role) => rematch.seats[role].clone(),
        Viewer::Watcher => None,
    };
    let seat = |(role, token, url): (String, String, String)| (role, SeatJson { token, url });
    MadeJson {
        id: rematch.id.clone(),
        seats: own.into_iter().map(seat).collect(),
        watch: rematch.watch.clone(),
    }
}

fn make_rematch(
    app: &App,
    place: &Arc<Place>,
    viewer: Viewer,
    seats: Option<&BTreeMap<String, String>>,
) -> Result<Rematch, ApiError> {
    let table = place.lock();
    if !table.is_over() {
        return Err(ApiError::conflict(
            "not-finished",
            "the game is not over",
            "finish it first",
        ));
    }
    if viewer == Viewer::Watcher && table.has_people() {
        return Err(ApiError::new(
            403,
            "not-yours",
            "only people at the table ask for a rematch",
            "open a new table",
        ));
    }
    let played = table.game().game.seating().played().to_vec();
    // Where the sitter of each role goes.
    let (setup, moved) = match seats {
        None => moved_on(app, &table, &played)?,
        Some(seats) => chosen(app, &table, seats)?,
    };
    drop(table);
    let made = app.tables.open(place.source.clone(), setup)?;
    let mut links = vec![None; place.tokens.len()];
    for (old, new) in moved {
        if let Some(token) = made.tokens.get(&new) {
            links[old] = Some((place.roles[new].clone(), token.clone(), made.place.url(token)));
        }
    }
    let rematch = Rematch {
        id: made.place.id.clone(),
        watch: made.place.url(&made.place.watch),
        seats: links,
    };
    *place.rematch.lock().unwrap_or_else(PoisonError::into_inner) = Some(rematch.clone());
    place.publish(&place.lock());
    Ok(rematch)
}

/// Sitters of a rematch, and the new role of each old one.
type Moved = (Setup, Vec<(usize, usize)>);

fn moved_on(app: &App, table: &Table, played: &[usize]) -> Result<Moved, ApiError> {
    let old = &table.setup().sitters;
    if old.iter().any(|sitter| matches!(sitter, Sitter::Name(_))) {
        return Err(ApiError::conflict(
            "record",
            "this is a record of another match",
            "open a new table",
        ));
    }
    let mut sitters = old.clone();
    let mut moved = Vec::new();
    for (at, &role) in played.iter().enumerate() {
        let next = played[(at + 1) % played.len()];
        sitters[next] = old[role].clone();
        moved.push((role, next));
    }
    Ok((new_setup(app, table, sitters)?, moved))
}

fn chosen(app: &App, table: &Table, seats: &BTreeMap<String, String>) -> Result<Moved, ApiError> {
    let request = NewTable {
        seats: seats.clone(),
        ..NewTable::default()
    };
    let asked = request.setup(table.game().clone(), &app.tables.options)?;
    // People go to the seats of people in order, first their own ones.
    let mut free: Vec<usize> = (0..asked.sitters.len())
        .filter(|&role| asked.sitters[role].is_person())
        .collect();
    let mut moved = Vec::new();
    let (stay, go): (Vec<usize>, Vec<usize>) = table.people().into_iter().partition(|role| free.contains(role));
    for role in stay {
        free.retain(|&seat| seat != role);
        moved.push((role, role));
    }
    moved.extend(go.into_iter().zip(free));
    Ok((new_setup(app, table, asked.sitters)?, moved))
}

fn new_setup(app: &App, table: &Table, sitters: Vec<Sitter>) -> Result<Setup, ApiError> {
    Ok(Setup {
        sitters,
        seed: crate::requests::drawn_seed().ok_or_else(ApiError::internal)?,
        think_time: app.tables.options.limits.think_time,
        ..table.setup().clone()
    })
}
