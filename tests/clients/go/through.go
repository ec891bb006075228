package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

const (
	workers  = 32
	patience = 2 * time.Minute
)

var retried int64

// insist sends a statement until it is answered well: a copy of it must change nothing.
func insist(what func() error) {
	for started := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := what()
		if err == nil {
			return
		}
		if time.Since(started) > patience {
			log.Fatal("given up: ", err)
		}
		atomic.AddInt64(&retried, 1)
	}
}

// through streams clicks, each with an increment under a request id, until its input ends, through
// whatever happens to the server meanwhile; then each must have been counted once.
func through(session *gocql.Session, name string) {
	must(session.Query("CREATE KEYSPACE " + name + " WITH replication = " +
		"{'class': 'SimpleStrategy', 'replication_factor': 1}").Exec())
	must(session.Query("CREATE TABLE " + name + ".hits (id text PRIMARY KEY, hits counter)").Exec())
	var ended atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended.Store(true)
	}()
	fmt.Println("streaming")
	var sent int64
	var group sync.WaitGroup
	for w := 0; w < workers; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for !ended.Load() {
				one(session, name, atomic.AddInt64(&sent, 1))
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	group.Wait()
	var clicks, hits int64
	insist(func() error {
		return session.Query("SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?",
			name).Scan(&clicks)
	})
	insist(func() error {
		return session.Query("SELECT hits FROM " + name + ".hits WHERE id = 'all'").Scan(&hits)
	})
	fmt.Println(sent, "sent,", retried, "sent again")
	expect(clicks == sent, "clicks counted", clicks)
	expect(hits == sent, "increments", hits)
}

func one(session *gocql.Session, name string, number int64) {
	id := make([]byte, 16)
	_, err := rand.Read(id)
	must(err)
	insist(func() error {
		return session.Query("INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, "+
			"click_id, amount) VALUES (?, ?, ?, ?, ?, ?)", name, "2013-11-28",
			time.UnixMilli(1385654400000+number), name+"-ad", -number, inf.NewDec(5, 3)).Exec()
	})
	insist(func() error {
		return session.Query("UPDATE " + name + ".hits SET hits = hits + 1 WHERE id = 'all'").
			CustomPayload(map[string][]byte{"daybook-request-id": id}).Exec()
	})
}
