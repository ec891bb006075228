//! The ad network's work with the scylla driver: client HOST PORT VERSION NAME; the version is 4.
use bigdecimal_04::BigDecimal;
use futures::{stream, StreamExt, TryStreamExt};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::value::{Counter, CqlTimestamp};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::Duration;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const CLICKS: i64 = 1000;

async fn schema(session: &Session, name: &str) -> Outcome {
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    session
        .query_unpaged(format!("CREATE KEYSPACE {name} WITH replication = {replication}"), ())
        .await?;
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
    let insert = session
        .prepare(
            "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) \
             VALUES (?, '2013-11-28', ?, ?, ?, ?)",
        )
        .await?;
    let (insert, amount) = (&insert, &BigDecimal::from_str("0.005")?);
    stream::iter(0..CLICKS)
        .map(|i| async move {
            let time = CqlTimestamp(1385654400000 + i);
            session.execute_unpaged(insert, (name, time, "rust-ad", -1 - i, amount)).await
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
    let count = session
        .query_unpaged(
            "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?",
            (name,),
        )
        .await?
        .into_rows_result()?
        .single_row::<(Counter,)>()?;
    assert_eq!(count.0 .0, CLICKS);
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

#[tokio::main]
async fn main() -> Outcome {
    let words: Vec<String> = std::env::args().collect();
    let session: Session =
        SessionBuilder::new().known_node(format!("{}:{}", words[1], words[2])).build().await?;
    schema(&session, &words[4]).await?;
    clicks(&session, &words[4]).await?;
    rate(&session, &words[4], "0.2", "1").await?;
    rate(&session, &words[4], "0.25", "1.25").await?;
    assert!(session.query_unpaged("SELECT * FROM daybook.nothing", ()).await.is_err());
    Ok(())
}
