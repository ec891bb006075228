import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** The ad network's work with the java driver: Client HOST PORT VERSION NAME USER PASSWORD
 * [through]. */
public class Client {
    static final int CLICKS = 1000;
    static final int WORKERS = 32;
    static final long PATIENCE_MS = 120_000;
    static final String CLICK = "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, "
        + "click_id, amount) VALUES (?, ?, ?, ?, ?, ?)";

    static String host, version, name, user;
    static int port;

    static void expect(boolean ok, String what) {
        if (!ok) throw new AssertionError(what);
    }

    static CqlSession connect(String password, ProgrammaticDriverConfigLoaderBuilder options) {
        return CqlSession.builder().addContactPoint(new InetSocketAddress(host, port))
            .withLocalDatacenter("datacenter1").withAuthCredentials(user, password)
            .withConfigLoader(options
                .withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + version)
                .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, "lz4")
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofSeconds(1))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
                .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 0)
                .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 0)
                .build())
            .build();
    }

    static CqlSession patient(String password) {
        return connect(password, DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20)));
    }

    static void keyspace(CqlSession session) {
        session.execute("CREATE KEYSPACE " + name + " WITH replication = "
            + "{'class': 'SimpleStrategy', 'replication_factor': 1}");
    }

    static void schema(CqlSession session, CqlSession other) throws InterruptedException {
        keyspace(session);
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
        for (int i = 0; i < 200 && other.getMetadata().getKeyspace(name)
            .flatMap(keyspace -> keyspace.getTable("notes")).isEmpty(); i++) Thread.sleep(50);
        expect(other.getMetadata().getKeyspace(name).get().getTable("notes").isPresent(),
            "an event that tells of the table");
    }

    static BoundStatement click(PreparedStatement insert, long number) {
        return insert.bind(name, "2013-11-28", Instant.ofEpochMilli(1385654400000L + number),
            name + "-ad", -1L - number, new BigDecimal("0.005"));
    }

    static long counted(CqlSession session) {
        return session.execute(session.prepare(
            "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?").bind(name))
            .one().getLong(0);
    }

    static void stream(CqlSession session) {
        PreparedStatement insert = session.prepare(CLICK);
        List<CompletionStage<AsyncResultSet>> all = new ArrayList<>();
        for (int i = 0; i < CLICKS; i++) all.add(session.executeAsync(click(insert, i)));
        for (CompletionStage<AsyncResultSet> one : all) one.toCompletableFuture().join();
        PreparedStatement select = session.prepare(
            "SELECT amount FROM daybook.ad_click WHERE reseller_id = ? AND day = ?");
        int read = 0;
        for (Row row : session.execute(select.bind(name, "2013-11-28").setPageSize(70))) {
            expect(row.getBigDecimal(0).equals(new BigDecimal("0.005")), "amount");
            read++;
        }
        expect(read == CLICKS, "clicks by pages: " + read);
        long count = counted(session);
        expect(count == CLICKS, "clicks counted: " + count);
    }

    static void rate(CqlSession session, String rate, String amount)
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

    /** Sends a statement until it is answered well: a copy of it must change nothing. */
    static ResultSet insist(CqlSession session, Statement<?> statement, AtomicLong again)
        throws InterruptedException {
        long started = System.currentTimeMillis();
        while (true) {
            try {
                return session.execute(statement);
            } catch (DriverException failure) {
                if (System.currentTimeMillis() - started > PATIENCE_MS) throw failure;
                again.incrementAndGet();
                Thread.sleep(50);
            }
        }
    }

    /** Clicks, each with an increment under a request id, until the input ends, through whatever
     * happens to the server meanwhile; then each must have been counted once. */
    static void through(CqlSession session) throws Exception {
        keyspace(session);
        session.execute("CREATE TABLE " + name + ".hits (id text PRIMARY KEY, hits counter)");
        PreparedStatement insert = session.prepare(CLICK);
        AtomicLong sent = new AtomicLong(), again = new AtomicLong();
        AtomicBoolean ended = new AtomicBoolean();
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            all.add(workers.submit(() -> {
                while (!ended.get()) {
                    UUID id = UUID.randomUUID();
                    ByteBuffer bytes = ByteBuffer.allocate(16)
                        .putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
                    bytes.flip();
                    insist(session, click(insert, sent.getAndIncrement()).setIdempotent(true),
                        again);
                    insist(session, SimpleStatement.builder("UPDATE " + name
                        + ".hits SET hits = hits + 1 WHERE id = 'all'").setIdempotence(true)
                        .addCustomPayload("daybook-request-id", bytes).build(), again);
                    Thread.sleep(10);
                }
                return null;
            }));
        }
        System.out.println("streaming");
        while (System.in.read() >= 0) {}
        ended.set(true);
        for (Future<?> one : all) one.get();
        workers.shutdown();
        System.out.println(sent + " sent, " + again + " sent again");
        expect(counted(session) == sent.get(), "clicks counted: " + counted(session));
        long hits = session.execute("SELECT hits FROM " + name + ".hits").one().getLong(0);
        expect(hits == sent.get(), "increments: " + hits);
    }

    public static void main(String[] words) throws Exception {
        host = words[0];
        port = Integer.parseInt(words[1]);
        version = words[2];
        name = words[3];
        user = words[4];
        if (words.length > 6) {
            try (CqlSession session = connect(words[5], DriverConfigLoader.programmaticBuilder())) {
                through(session);
            }
            return;
        }
        try {
            patient("wrong").close();
            throw new AssertionError("a wrong password");
        } catch (AllNodesFailedException expected) {
            expect(expected.getAllErrors().values().toString().contains("AuthenticationException"),
                "which says so");
        }
        try (CqlSession session = patient(words[5]); CqlSession other = patient(words[5])) {
            schema(session, other);
            stream(session);
            rate(session, "0.2", "1");
            rate(session, "0.25", "1.25");
            try {
                session.execute("SELECT * FROM daybook.nothing");
                throw new AssertionError("an unknown table is an error");
            } catch (InvalidQueryException expected) {
                expect(expected.getMessage().length() > 0, "which says so");
            }
        }
    }
}
