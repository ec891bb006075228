// The ad network's work with gocql: client HOST PORT VERSION NAME USER PASSWORD [through].  Built
// twice: run.sh puts the second version of the driver in the place of the first.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

const clicks = 1000

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(ok bool, what string, got ...any) {
	if !ok {
		log.Fatal(what, ": ", fmt.Sprint(got...))
	}
}

func schema(session *gocql.Session, name string) {
	must(session.Query("CREATE KEYSPACE " + name + " WITH replication = " +
		"{'class': 'SimpleStrategy', 'replication_factor': 1}").Exec())
	must(session.Query("CREATE TABLE " + name + ".notes (id int, at timestamp, tags set<text>, " +
		"marks map<text, int>, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC)").Exec())
	batch := session.NewBatch(gocql.LoggedBatch)
	first, second := time.UnixMilli(1385654400123), time.UnixMilli(1385654400124)
	batch.Query("INSERT INTO "+name+".notes (id, at, tags) VALUES (?, ?, ?)", 1, first,
		[]string{"b", "a"})
	batch.Query("INSERT INTO "+name+".notes (id, at, marks) VALUES (?, ?, ?)", 1, second,
		map[string]int{"one": 1})
	must(session.ExecuteBatch(batch))
	var at time.Time
	var tags []string
	var marks map[string]int
	rows := session.Query("SELECT at, tags, marks FROM " + name + ".notes").Iter()
	expect(rows.Scan(&at, &tags, &marks) && at.Equal(second) && marks["one"] == 1, "first", at)
	expect(rows.Scan(&at, &tags, &marks) && at.Equal(first) &&
		reflect.DeepEqual(tags, []string{"a", "b"}), "second", at, tags)
	must(rows.Close())
	metadata(session, name)
}

// The second version learns of the keyspace by an event, some time later.
func metadata(session *gocql.Session, name string) {
	var keyspace *gocql.KeyspaceMetadata
	var err error
	for i := 0; i < 100; i++ {
		keyspace, err = session.KeyspaceMetadata(name)
		if err == nil && keyspace.Tables["notes"] != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	must(err)
	expect(len(keyspace.Tables["notes"].Columns) == 4, "columns of notes")
}

func stream(session *gocql.Session, name string) {
	done := make(chan error, clicks)
	slots := make(chan bool, 64)
	for i := 0; i < clicks; i++ {
		slots <- true
		go func(i int) {
			done <- session.Query("INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, "+
				"click_id, amount) VALUES (?, ?, ?, ?, ?, ?)", name, "2013-11-28",
				time.UnixMilli(1385654400000+int64(i)), name+"-ad", int64(-1-i),
				inf.NewDec(5, 3)).Exec()
			<-slots
		}(i)
	}
	for i := 0; i < clicks; i++ {
		must(<-done)
	}
	var amount inf.Dec
	read := 0
	rows := session.Query("SELECT amount FROM daybook.ad_click WHERE reseller_id = ? AND day = ?",
		name, "2013-11-28").PageSize(70).Iter()
	for rows.Scan(&amount) {
		expect(amount.String() == "0.005", "amount", amount.String())
		read++
	}
	must(rows.Close())
	expect(read == clicks, "clicks by pages", read)
	var count int64
	must(session.Query("SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?",
		name).Scan(&count))
	expect(count == clicks, "clicks counted", count)
}

func rate(session *gocql.Session, name string, hundredths int64, amount *inf.Dec) {
	must(session.Query("INSERT INTO daybook.reseller (id, effective_since, reward_percent) "+
		"VALUES (?, ?, ?)", name, "2013-11-01", inf.NewDec(hundredths, 2)).Exec())
	var got *inf.Dec
	for i := 0; i < 200; i++ {
		err := session.Query("SELECT amount FROM daybook.amount_by_day WHERE reseller_id = ? AND "+
			"day = ?", name, "2013-11-28").Scan(&got)
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			must(err)
		}
		if got != nil && got.Cmp(amount) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	log.Fatal("amount: ", got, " not ", amount)
}

// changes makes a table that another session, which knows its keyspace already, hears of.
func changes(session, other *gocql.Session, name string) {
	_, err := other.KeyspaceMetadata(name)
	must(err)
	must(session.Query("CREATE TABLE " + name + ".later (id int PRIMARY KEY)").Exec())
	for i := 0; i < 100; i++ {
		keyspace, err := other.KeyspaceMetadata(name)
		must(err)
		if keyspace.Tables["later"] != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("no event told of the new table")
}

func settings(password string) *gocql.ClusterConfig {
	cluster := gocql.NewCluster(os.Args[1])
	var err error
	cluster.Port, err = strconv.Atoi(os.Args[2])
	must(err)
	cluster.ProtoVersion, err = strconv.Atoi(os.Args[3])
	must(err)
	cluster.Authenticator = gocql.PasswordAuthenticator{Username: os.Args[5], Password: password}
	cluster.Compressor = compression()
	return cluster
}

func connect(cluster *gocql.ClusterConfig) *gocql.Session {
	session, err := cluster.CreateSession()
	must(err)
	return session
}

func main() {
	name := os.Args[4]
	cluster := settings(os.Args[6])
	if len(os.Args) > 7 {
		cluster.ReconnectInterval = time.Second
		session := connect(cluster)
		defer session.Close()
		through(session, name)
		return
	}
	_, err := settings("wrong").CreateSession()
	expect(err != nil, "a wrong password")
	cluster.Timeout = 20 * time.Second
	cluster.ConnectTimeout = 20 * time.Second
	session, other := connect(cluster), connect(cluster)
	defer session.Close()
	defer other.Close()
	schema(session, name)
	changes(session, other, name)
	stream(session, name)
	rate(session, name, 20, inf.NewDec(1, 0))
	rate(session, name, 25, inf.NewDec(125, 2))
	var failure gocql.RequestError
	err = session.Query("SELECT * FROM daybook.nothing").Exec()
	expect(errors.As(err, &failure) && failure.Code() == 0x2200, "an unknown table", err)
}
