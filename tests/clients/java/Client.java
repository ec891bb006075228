import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The ad network's work with the java driver: Client HOST PORT VERSION NAME. */
public class Client {
    static final int CLICKS = 1000;

    static void expect(boolean ok, String what) {
        if (!ok) throw new AssertionError(what);
    }

    static void schema(CqlSession session, String name) {
        session.execute("CREATE KEYSPACE " + name + " WITH replication = "
            + "{'class': 'SimpleStrategy', 'replication_factor': 1}");
        session.execute("CREATE TABLE " + name + ".notes (id int, at timestamp, tags set<text>, "
            + "marks map<text, int>, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC)");
        PreparedStatement tags = session.prepare(
            "INSERT INTO " + name + ".notes (id, at, tags) VALUES (?, ?, ?)");
        PreparedStatement marks = session.prepare(
            "INSERT INTO " + name + ".notes (id, at, marks) VALUES (?, ?, ?)");
        session.execute(BatchStatement.newInstance(DefaultBatchType.LOGGED,
            tags.bind(1, Instant.ofEpochMilli(1385654400123L), Set.of("b", "a")),
            marks.bind(1, Instant.ofEpochMilli(1385654400124L), Map.of("one", 1))));
        List<Row> rows = session.execute("SELECT * FROM " + name + ".notes").all();
        expect(rows.size() == 2, "two notes");
        expect(rows.get(0).getInstant("at").toEpochMilli() == 1385654400124L, "newest first");
        expect(rows.get(0).getMap("marks", String.class, Integer.class).equals(Map.of("one", 1)),
            "marks");
        expect(rows.get(1).getSet("tags", String.class).equals(Set.of("a", "b")), "tags");
        expect(session.getMetadata().getKeyspace(name).get().getTable("notes").get().getColumns()
            .size() == 4, "columns of notes");
    }

    static void stream(CqlSession session, String name) {
        PreparedStatement insert = session.prepare("INSERT INTO daybook.ad_click (reseller_id, day, "
            + "time, ad_id, click_id, amount) VALUES (?, ?, ?, ?, ?, ?)");
        List<CompletionStage<AsyncResultSet>> all = new ArrayList<>();
        for (int i = 0; i < CLICKS; i++) {
            all.add(session.executeAsync(insert.bind(name, "2013-11-28",
                Instant.ofEpochMilli(1385654400000L + i), name + "-ad", -1L - i,
                new BigDecimal("0.005"))));
        }
        for (CompletionStage<AsyncResultSet> one : all) one.toCompletableFuture().join();
        PreparedStatement select = session.prepare(
            "SELECT amount FROM daybook.ad_click WHERE reseller_id = ? AND day = ?");
        int read = 0;
        for (Row row : session.execute(select.bind(name, "2013-11-28").setPageSize(70))) {
            expect(row.getBigDecimal(0).equals(new BigDecimal("0.005")), "amount");
            read++;
        }
        expect(read == CLICKS, "clicks by pages: " + read);
        long count = session.execute(session.prepare(
            "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?").bind(name))
            .one().getLong(0);
        expect(count == CLICKS, "clicks counted: " + count);
    }

    static void rate(CqlSession session, String name, String rate, String amount)
        throws InterruptedException {
        session.execute(session.prepare("INSERT INTO daybook.reseller (id, effective_since, "
            + "reward_percent) VALUES (?, ?, ?)").bind(name, "2013-11-01", new BigDecimal(rate)));
        PreparedStatement select = session.prepare(
            "SELECT amount FROM daybook.amount_by_day WHERE reseller_id = ? AND day = ?");
        for (int i = 0; i < 200; i++) {
            Row day = session.execute(select.bind(name, "2013-11-28")).one();
            BigDecimal got = day == null ? null : day.getBigDecimal(0);
            if (got != null && got.compareTo(new BigDecimal(amount)) == 0) return;
            Thread.sleep(50);
        }
        throw new AssertionError("never came: an amount of " + amount);
    }

    public static void main(String[] words) throws Exception {
        DriverConfigLoader options = DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + words[2])
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
            .build();
        try (CqlSession session = CqlSession.builder()
            .addContactPoint(new InetSocketAddress(words[0], Integer.parseInt(words[1])))
            .withLocalDatacenter("datacenter1").withConfigLoader(options).build()) {
            schema(session, words[3]);
            stream(session, words[3]);
            rate(session, words[3], "0.2", "1");
            rate(session, words[3], "0.25", "1.25");
            try {
                session.execute("SELECT * FROM daybook.nothing");
                throw new AssertionError("an unknown table is an error");
            } catch (InvalidQueryException expected) {
                expect(expected.getMessage().length() > 0, "which says so");
            }
        }
    }
}
