//! The ad network's work with the scylla driver: client HOST PORT VERSION NAME USER PASSWORD
//! [through]; the version is 4.
use bigdecimal_04::BigDecimal;
use futures::{stream, StreamExt, TryStreamExt};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::client::Compression;
use scylla::value::{Counter, CqlTimestamp};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Outcome = Result<(), Failure>;

const CLICKS: i64 = 1000;
const WORKERS: usize = 32;
const PATIENCE: Duration = Duration::from_secs(120);
const CLICK: &str = "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) \
                     VALUES (?, '2013-11-28', ?, 'rust-ad', ?, ?)";

async fn connect(words: &[String], password: &str) -> Result<Session, Failure> {
    Ok(SessionBuilder::new()
        .known_node(format!("{}:{}", words[1], words[2]))
        .user(&words[5], password)
        .compression(Some(Compression::Lz4))
        .build()
        .await?)
}

async fn keyspace(session: &Session, name: &str) -> Outcome {
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    session
        .query_unpaged(format!("CREATE KEYSPACE {name} WITH replication = {replication}"), ())
        .await?;
    Ok(())
}

async fn counted(session: &Session, name: &str) -> Result<i64, Failure> {
    let count = session
        .query_unpaged(
            "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?",
            (name,),
        )
        .await?
        .into_rows_result()?
        .single_row::<(Counter,)>()?;
    Ok(count.0 .0)
}

async fn schema(session: &Session, name: &str) -> Outcome {
    keyspace(session, name).await?;
    session
        .query_unpaged(
            format!(
                "CREATE TABLE {name}.notes (id int, at timestamp, tags set<text>, \
                 marks map<text, int>, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC)"
            ),
            (),
        )
        .await?;
    let insert = session
        .prepare(format!("INSERT INTO {name}.notes (id, at, tags, marks) VALUES (?, ?, ?, ?)"))
        .await?;
    let tags = HashSet::from(["b", "a"]);
    let marks = HashMap::from([("one", 1)]);
    session.execute_unpaged(&insert, (1, CqlTimestamp(1385654400123), tags, &marks)).await?;
    let rows = session
        .query_unpaged(format!("SELECT tags, marks FROM {name}.notes"), ())
        .await?
        .into_rows_result()?;
    let (tags, marks) = rows.single_row::<(Vec<String>, HashMap<String, i32>)>()?;
    assert_eq!(tags, ["a", "b"]);
    assert_eq!(marks["one"], 1);
    session.refresh_metadata().await?;
    let state = session.get_cluster_state();
    assert_eq!(state.get_keyspace(name).unwrap().tables["notes"].columns.len(), 4);
    Ok(())
}

async fn clicks(session: &Session, name: &str) -> Outcome {
    let insert = session.prepare(CLICK).await?;
    let (insert, amount) = (&insert, &BigDecimal::from_str("0.005")?);
    stream::iter(0..CLICKS)
        .map(|i| async move {
            let time = CqlTimestamp(1385654400000 + i);
            session.execute_unpaged(insert, (name, time, -1 - i, amount)).await
        })
        .buffer_unordered(64)
        .try_for_each(|_| async { Ok(()) })
        .await?;
    let mut select = session
        .prepare("SELECT amount FROM daybook.ad_click WHERE reseller_id = ? AND day = '2013-11-28'")
        .await?;
    select.set_page_size(70);
    let rows = session.execute_iter(select, (name,)).await?;
    let read: Vec<(BigDecimal,)> = rows.rows_stream()?.try_collect().await?;
    assert_eq!(read.len() as i64, CLICKS);
    assert!(read.iter().all(|row| row.0 == *amount));
    assert_eq!(counted(session, name).await?, CLICKS);
    Ok(())
}

async fn rate(session: &Session, name: &str, rate: &str, amount: &str) -> Outcome {
    session
        .query_unpaged(
            "INSERT INTO daybook.reseller (id, effective_since, reward_percent) \
             VALUES (?, '2013-11-01', ?)",
            (name, BigDecimal::from_str(rate)?),
        )
        .await?;
    for _ in 0..200 {
        let rows = session
            .query_unpaged(
                "SELECT amount FROM daybook.amount_by_day \
                 WHERE reseller_id = ? AND day = '2013-11-28'",
                (name,),
            )
            .await?
            .into_rows_result()?;
        let day = rows.maybe_first_row::<(Option<BigDecimal>,)>()?;
        if day.and_then(|row| row.0) == Some(BigDecimal::from_str(amount)?) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("never came: an amount of {amount}").into())
}

/// Sends a statement until it is answered well: a copy of it must change nothing.
async fn insist<T, E: Into<Failure>, F: Future<Output = Result<T, E>>>(
    again: &AtomicI64,
    what: impl Fn() -> F,
) -> Outcome {
    let started = Instant::now();
    while let Err(failure) = what().await {
        if started.elapsed() > PATIENCE {
            return Err(failure.into());
        }
        again.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Clicks, each with an increment under a request id (in a comment: this driver sends no payload),
/// until the input ends, through whatever happens to the server meanwhile; then each must have been
/// counted once.
async fn through(session: &Session, name: &str) -> Outcome {
    keyspace(session, name).await?;
    let hits = format!("{name}.hits");
    session
        .query_unpaged(format!("CREATE TABLE {hits} (id text PRIMARY KEY, hits counter)"), ())
        .await?;
    let ended = Arc::new(AtomicBool::new(false));
    let ending = ended.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ending.store(true, Ordering::Relaxed);
    });
    println!("streaming");
    let (sent, again) = (&AtomicI64::new(0), &AtomicI64::new(0));
    let (ended, hits) = (&ended, &hits);
    let mut insert = session.prepare(CLICK).await?;
    insert.set_is_idempotent(true);
    let (insert, amount) = (&insert, &BigDecimal::from_str("0.005")?);
    let work = |_| async move {
        while !ended.load(Ordering::Relaxed) {
            let number = sent.fetch_add(1, Ordering::Relaxed);
            let time = CqlTimestamp(1385654400000 + number);
            insist(again, || session.execute_unpaged(insert, (name, time, -1 - number, amount)))
                .await?;
            let count = format!(
                "/* daybook-request-id: {:016x}{number:016x} */ \
                 UPDATE {hits} SET hits = hits + 1 WHERE id = 'all'",
                std::process::id()
            );
            insist(again, || session.query_unpaged(count.as_str(), ())).await?;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok::<(), Failure>(())
    };
    futures::future::try_join_all((0..WORKERS).map(work)).await?;
    let sent = sent.load(Ordering::Relaxed);
    println!("{sent} sent, {} sent again", again.load(Ordering::Relaxed));
    assert_eq!(counted(session, name).await?, sent);
    let count = session
        .query_unpaged(format!("SELECT hits FROM {hits}"), ())
        .await?
        .into_rows_result()?
        .single_row::<(Counter,)>()?;
    assert_eq!(count.0 .0, sent);
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome {
    let words: Vec<String> = std::env::args().collect();
    let session = connect(&words, &words[6]).await?;
    if words.len() > 7 {
        return through(&session, &words[4]).await;
    }
    assert!(connect(&words, "wrong").await.is_err());
    schema(&session, &words[4]).await?;
    clicks(&session, &words[4]).await?;
    rate(&session, &words[4], "0.2", "1").await?;
    rate(&session, &words[4], "0.25", "1.25").await?;
    assert!(session.query_unpaged("SELECT * FROM daybook.nothing", ()).await.is_err());
    Ok(())
}
