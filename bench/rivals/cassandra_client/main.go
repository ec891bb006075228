// cassandra_client: the ad network's work on a CQL server, with gocql at its usual settings.
//
//	cassandra_client -csv clicks.csv -limit 1000000 load|insert|counter|month
//
// load:    the clicks in unlogged batches of one partition, 100 rows each, 16 in flight
// insert:  one prepared INSERT a click, 64 in flight
// counter: one prepared counter update, 64 in flight, over 10,000 keys
// month:   the 30 stored days of one reseller, one question at a time
//
// Prints one figure a line, its name first.
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
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

const (
	batchRows   = 100
	counterKeys = 10000
	months      = 2000
)

var tables = []string{
	`ad_click (reseller_id text, day text, time timestamp, ad_id text, amount decimal,
	 PRIMARY KEY ((reseller_id, day), time, ad_id)) WITH CLUSTERING ORDER BY (time DESC)
	 AND compression = {'class': 'ZstdCompressor', 'chunk_length_in_kb': 64}`,
	`hit (id text PRIMARY KEY, hits counter)`,
	`amount_by_day (reseller_id text, day text, amount decimal, PRIMARY KEY (reseller_id, day))`,
}

type click struct {
	reseller, day, ad string
	time              int64
	cents             int64
}

type client struct {
	session *gocql.Session
	clicks  []click
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

// parallel calls one with 0, 1, 2 ... up to count from so many goroutines; units a second.
func parallel(name string, workers int, count int, units int, one func(i int)) {
	var next int64 = -1
	var group sync.WaitGroup
	started := time.Now()
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
	fmt.Printf("%s %.0f\n", name, float64(units)/time.Since(started).Seconds())
}

const insert = "INSERT INTO ad_click (reseller_id, day, time, ad_id, amount) VALUES (?, ?, ?, ?, ?)"

func (c *client) insertOne() {
	parallel("insert/s", 64, len(c.clicks), len(c.clicks), func(i int) {
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
	parallel("load/s", 16, len(batches), len(c.clicks), func(i int) {
		batch := c.session.NewBatch(gocql.UnloggedBatch)
		for _, one := range batches[i] {
			batch.Query(insert, one.values()...)
		}
		must(c.session.ExecuteBatch(batch))
	})
}

func (c *client) count(updates int) {
	parallel("counter/s", 64, updates, updates, func(i int) {
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
	times := make([]float64, months)
	for i := range times {
		started := time.Now()
		rows := c.session.Query("SELECT day, amount FROM amount_by_day WHERE reseller_id = ?",
			fmt.Sprintf("reseller-%04d", rand.Intn(100))).Iter()
		if rows.NumRows() != 30 {
			log.Fatal("not a month: ", rows.NumRows())
		}
		must(rows.Close())
		times[i] = float64(time.Since(started).Microseconds())
	}
	sort.Float64s(times)
	fmt.Printf("month_p50_us %.0f\nmonth_p99_us %.0f\n", times[months/2], times[months*99/100])
}

func (c *client) makeTables() {
	for _, table := range tables {
		must(c.session.Query("DROP TABLE IF EXISTS " + strings.Fields(table)[0]).Exec())
		must(c.session.Query("CREATE TABLE " + table).Exec())
	}
}

func connect(keyspace string, coalesce time.Duration) *gocql.Session {
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.ProtoVersion, cluster.NumConns = 4, 4
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
	csv := flag.String("csv", "", "clicks without a header")
	limit := flag.Int("limit", 1000000, "clicks, or counter updates")
	flag.Parse()
	session := connect("", 0)
	must(session.Query(`CREATE KEYSPACE IF NOT EXISTS bench WITH replication =
		{'class': 'SimpleStrategy', 'replication_factor': 1}`).Exec())
	session.Close()
	// One question at a time would wait for others that never come.
	coalesce := 200 * time.Microsecond
	if flag.Arg(0) == "month" {
		coalesce = 0
	}
	c := &client{session: connect("bench", coalesce)}
	defer c.session.Close()
	c.makeTables()
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
	default:
		log.Fatal("one of load, insert, counter, month")
	}
}
