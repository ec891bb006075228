// cql_client: the ad network's work on a CQL server, with gocql at its usual settings.
//
//	cql_client -port 9042 -csv clicks.csv -limit 1000000 -flight 64 load|insert|counter|month|...
//
// load:    the clicks in unlogged batches of one partition, 100 rows each, 16 in flight
// insert:  one prepared INSERT a click, so many in flight
// counter: one prepared counter update over 10,000 keys, so many in flight
// month:   the 30 stored days of one reseller, one question at a time
// point:   one row by its key of 10,000, one question at a time, and so many in flight
// mixed:   after point: one row by its key, one question at a time, while inserts go on
// wide:    sum and count of a partition of so many rows, which it makes
// own:     the same of daybook's own click table, where so many clicks are of one reseller and day
// crowd:   after point: -connections of which every fifth asks for a row, for -seconds; -pid: of the
//          server, for its memory
//
// Prints one figure a line, its name first; insert and counter also say how much of the processors
// the client itself took for one.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

const (
	batchRows   = 100
	counterKeys = 10000
	pointKeys   = 10000
	questions   = 2000
	wideAsked   = 5
)

var tables = []string{
	`ad_click (reseller_id text, day text, time timestamp, ad_id text, amount decimal,
	 PRIMARY KEY ((reseller_id, day), time, ad_id)) WITH CLUSTERING ORDER BY (time DESC)
	 AND compression = {'class': 'ZstdCompressor', 'chunk_length_in_kb': 64}`,
	`hit (id text PRIMARY KEY, hits counter)`,
	`amount_by_day (reseller_id text, day text, amount decimal, PRIMARY KEY (reseller_id, day))`,
	`point (id int PRIMARY KEY, value text)`,
}

type click struct {
	reseller, day, ad string
	time              int64
	cents             int64
}

type client struct {
	session *gocql.Session
	clicks  []click
	flight  int
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(path string, limit int) []click {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	names := map[string]string{}
	name := func(text string) string {
		if known, ok := names[text]; ok {
			return known
		}
		text = strings.Clone(text)
		names[text] = text
		return text
	}
	var clicks []click
	for lines := bufio.NewScanner(file); len(clicks) < limit && lines.Scan(); {
		fields := strings.Split(lines.Text(), ",")
		time, err := strconv.ParseInt(fields[2], 10, 64)
		must(err)
		cents, err := strconv.ParseInt(strings.Replace(fields[4], ".", "", 1), 10, 64)
		must(err)
		clicks = append(clicks, click{name(fields[0]), name(fields[1]), name(fields[3]), time, cents})
	}
	return clicks
}

func (c *click) values() []interface{} {
	return []interface{}{c.reseller, c.day, c.time, c.ad, decimal(c.cents)}
}

// processor is the time in microseconds that this process has had of the processors.
func processor() float64 {
	var used syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Sec+used.Stime.Sec)*1e6 + float64(used.Utime.Usec+used.Stime.Usec)
}

// parallel calls one with 0, 1, 2 ... up to count from so many goroutines; units a second.
func parallel(name string, workers int, count int, units int, one func(i int)) {
	var next int64 = -1
	var group sync.WaitGroup
	started, before := time.Now(), processor()
	for w := 0; w < workers; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := int(atomic.AddInt64(&next, 1)); i < count; i = int(atomic.AddInt64(&next, 1)) {
				one(i)
			}
		}()
	}
	group.Wait()
	fmt.Printf("%s/s %.0f\n", name, float64(units)/time.Since(started).Seconds())
	fmt.Printf("%s_client_us %.1f\n", name, (processor()-before)/float64(units))
}

// latencies asks one question after the other.
func latencies(name string, ask func()) {
	times := make([]float64, questions)
	for i := range times {
		started := time.Now()
		ask()
		times[i] = float64(time.Since(started).Microseconds())
	}
	sort.Float64s(times)
	fmt.Printf("%s_p50_us %.0f\n%s_p99_us %.0f\n", name, times[questions/2], name,
		times[questions*99/100])
}

const insert = "INSERT INTO ad_click (reseller_id, day, time, ad_id, amount) VALUES (?, ?, ?, ?, ?)"

func (c *client) insertOne() {
	parallel("insert", c.flight, len(c.clicks), len(c.clicks), func(i int) {
		must(c.session.Query(insert, c.clicks[i].values()...).Exec())
	})
}

func (c *client) load() {
	open := map[string][]*click{}
	var batches [][]*click
	for i := range c.clicks {
		one := &c.clicks[i]
		key := one.reseller + one.day
		open[key] = append(open[key], one)
		if len(open[key]) == batchRows {
			batches = append(batches, open[key])
			delete(open, key)
		}
	}
	for _, rest := range open {
		batches = append(batches, rest)
	}
	parallel("load", 16, len(batches), len(c.clicks), func(i int) {
		batch := c.session.NewBatch(gocql.UnloggedBatch)
		for _, one := range batches[i] {
			batch.Query(insert, one.values()...)
		}
		must(c.session.ExecuteBatch(batch))
	})
}

func (c *client) count(updates int) {
	parallel("counter", c.flight, updates, updates, func(i int) {
		must(c.session.Query("UPDATE hit SET hits = hits + 1 WHERE id = ?",
			fmt.Sprintf("ad-%07d", rand.Intn(counterKeys))).Exec())
	})
}

func (c *client) month() {
	for reseller := 0; reseller < 100; reseller++ {
		for day := 1; day <= 30; day++ {
			must(c.session.Query("INSERT INTO amount_by_day (reseller_id, day, amount) VALUES (?, ?, ?)",
				fmt.Sprintf("reseller-%04d", reseller), fmt.Sprintf("2026-08-%02d", day),
				decimal(12345)).Exec())
		}
	}
	latencies("month", func() {
		rows := c.session.Query("SELECT day, amount FROM amount_by_day WHERE reseller_id = ?",
			fmt.Sprintf("reseller-%04d", rand.Intn(100))).Iter()
		if rows.NumRows() != 30 {
			log.Fatal("not a month: ", rows.NumRows())
		}
		must(rows.Close())
	})
}

func (c *client) askPoint() {
	var value string
	id := rand.Intn(pointKeys)
	must(c.session.Query("SELECT value FROM point WHERE id = ?", id).Scan(&value))
	if value != strconv.Itoa(id) {
		log.Fatal("not the row of ", id, ": ", value)
	}
}

func (c *client) point(asked int) {
	parallel("write", 64, pointKeys, pointKeys, func(i int) {
		must(c.session.Query("INSERT INTO point (id, value) VALUES (?, ?)", i,
			strconv.Itoa(i)).Exec())
	})
	latencies("point", c.askPoint)
	parallel("point", c.flight, asked, asked, func(int) { c.askPoint() })
}

// mixed has asker ask for rows while clicks are inserted, over and over.
func (c *client) mixed(asker *client) {
	var ended atomic.Bool
	var group sync.WaitGroup
	for w := 0; w < c.flight; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := w; !ended.Load(); i += c.flight {
				must(c.session.Query(insert, c.clicks[i%len(c.clicks)].values()...).Exec())
			}
		}()
	}
	latencies("mixed", asker.askPoint)
	ended.Store(true)
	group.Wait()
}

// ask prints the median time of the sum and count of a partition, whose rows are known.
func (c *client) ask(name, partition string, rows int) {
	times := make([]float64, wideAsked)
	for i := range times {
		var sum inf.Dec
		var count int64
		started := time.Now()
		must(c.session.Query("SELECT sum(amount), count(*) FROM "+partition).Scan(&sum, &count))
		times[i] = float64(time.Since(started).Microseconds()) / 1000
		if count != int64(rows) || sum.Sign() <= 0 {
			log.Fatal("a wrong answer: ", count, " rows, ", sum.String())
		}
	}
	sort.Float64s(times)
	fmt.Printf("%s_ms %.3f\n", name, times[wideAsked/2])
}

func (c *client) wide(rows int) {
	parallel("fill", 16, rows/batchRows, rows, func(i int) {
		batch := c.session.NewBatch(gocql.UnloggedBatch)
		for j := i * batchRows; j < (i+1)*batchRows; j++ {
			one := click{"wide", "2013-11-28", "ad", 1385654400000 + int64(j)*50, 25}
			batch.Query(insert, one.values()...)
		}
		must(c.session.ExecuteBatch(batch))
	})
	c.ask("wide", "ad_click WHERE reseller_id = 'wide' AND day = '2013-11-28'", rows)
}

func (c *client) makeTables() {
	for _, table := range tables {
		must(c.session.Query("DROP TABLE IF EXISTS " + strings.Fields(table)[0]).Exec())
		must(c.session.Query("CREATE TABLE " + table).Exec())
	}
}

func connect(port int, keyspace string, coalesce time.Duration) *gocql.Session {
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.Port, cluster.ProtoVersion, cluster.NumConns = port, 4, 4
	cluster.Timeout, cluster.ConnectTimeout = time.Minute, time.Minute
	cluster.Consistency, cluster.DisableInitialHostLookup = gocql.One, true
	cluster.WriteCoalesceWaitTime = coalesce
	cluster.Keyspace = keyspace
	session, err := cluster.CreateSession()
	must(err)
	return session
}

// decimal is an amount of cents.
func decimal(cents int64) *inf.Dec {
	return inf.NewDec(cents, 2)
}

func main() {
	port := flag.Int("port", 9042, "of the server on 127.0.0.1")
	csv := flag.String("csv", "", "clicks without a header")
	limit := flag.Int("limit", 1000000, "clicks, counter updates, questions in flight, or rows")
	flight := flag.Int("flight", 64, "requests in flight")
	crowd := crowd{}
	flag.IntVar(&crowd.connections, "connections", 5000, "crowd: how many")
	flag.Float64Var(&crowd.seconds, "seconds", 5, "crowd: how long")
	flag.IntVar(&crowd.pid, "pid", 0, "crowd: the server's")
	flag.Parse()
	session := connect(*port, "", 0)
	must(session.Query(`CREATE KEYSPACE IF NOT EXISTS bench WITH replication =
		{'class': 'SimpleStrategy', 'replication_factor': 1}`).Exec())
	session.Close()
	// One question at a time would wait for others that never come.
	coalesce := 200 * time.Microsecond
	if flag.Arg(0) == "month" || flag.Arg(0) == "point" {
		coalesce = 0
	}
	c := &client{session: connect(*port, "bench", coalesce), flight: *flight}
	defer c.session.Close()
	switch flag.Arg(0) {
	case "mixed", "own", "crowd":
	default:
		c.makeTables()
	}
	switch flag.Arg(0) {
	case "load":
		c.clicks = read(*csv, *limit)
		c.load()
	case "insert":
		c.clicks = read(*csv, *limit)
		c.insertOne()
	case "counter":
		c.count(*limit)
	case "month":
		c.month()
	case "point":
		c.point(*limit)
	case "mixed":
		c.clicks = read(*csv, *limit)
		asker := &client{session: connect(*port, "bench", 0)}
		defer asker.session.Close()
		c.mixed(asker)
	case "wide":
		c.wide(*limit)
	case "own":
		c.ask("own", "daybook.ad_click WHERE reseller_id = 'reseller-0000' AND day = '2026-08-01'",
			*limit)
	case "crowd":
		crowd.port = *port
		crowd.run()
	default:
		log.Fatal("one of load, insert, counter, month, point, mixed, wide, own, crowd")
	}
}
