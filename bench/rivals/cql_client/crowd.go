package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

// crowd opens so many connections by hand, since a driver opens few, and has every fifth of them ask
// for one row again and again: what a connection takes of the server's memory, how long an answer
// takes, and whether all of them get theirs.
type crowd struct {
	port        int
	pid         int // of the server; 0: its memory is not asked for
	connections int
	seconds     float64
}

const (
	opcodeStartup = 1
	opcodeQuery   = 7
	opcodeReady   = 2
	opcodeResult  = 8
)

func frame(opcode byte, body []byte) []byte {
	header := []byte{4, 0, 0, 0, opcode, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(header[5:], uint32(len(body)))
	return append(header, body...)
}

func exchange(conn net.Conn, request []byte, wanted byte) {
	_, err := conn.Write(request)
	must(err)
	header := make([]byte, 9)
	_, err = io.ReadFull(conn, header)
	must(err)
	body := make([]byte, binary.BigEndian.Uint32(header[5:]))
	_, err = io.ReadFull(conn, body)
	must(err)
	if header[4] != wanted {
		log.Fatal("an answer of kind ", header[4], ": ", string(body))
	}
}

func startup() []byte {
	body := []byte{0, 1}
	for _, text := range []string{"CQL_VERSION", "3.0.0"} {
		body = append(body, 0, byte(len(text)))
		body = append(body, text...)
	}
	return frame(opcodeStartup, body)
}

func query(text string) []byte {
	body := make([]byte, 4, len(text)+7)
	binary.BigEndian.PutUint32(body, uint32(len(text)))
	body = append(body, text...)
	return frame(opcodeQuery, append(body, 0, 1, 0))
}

// residentKiB is what the server holds.
func (c *crowd) residentKiB() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	must(err)
	var kib float64
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(after, &kib)
	must(err)
	return kib
}

func (c *crowd) open() []net.Conn {
	conns := make([]net.Conn, c.connections)
	before := 0.0
	if c.pid != 0 {
		before = c.residentKiB()
	}
	for i := range conns {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
		must(err)
		exchange(conn, startup(), opcodeReady)
		conns[i] = conn
	}
	if c.pid != 0 {
		fmt.Printf("crowd_kib_each %.3f\n", (c.residentKiB()-before)/float64(len(conns)))
	}
	return conns
}

func (c *crowd) run() {
	const share = 5
	conns := c.open()
	request := query("SELECT value FROM bench.point WHERE id = 1")
	answered := make([][]float64, (len(conns)+share-1)/share)
	started := time.Now()
	var group sync.WaitGroup
	for i := range answered {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Since(started).Seconds() < c.seconds {
				asked := time.Now()
				exchange(conns[i*share], request, opcodeResult)
				answered[i] = append(answered[i], float64(time.Since(asked).Microseconds()))
			}
		}()
	}
	group.Wait()
	took := time.Since(started).Seconds()
	counts := make([]int, len(answered))
	var all []float64
	for i, times := range answered {
		counts[i] = len(times)
		all = append(all, times...)
	}
	sort.Ints(counts)
	sort.Float64s(all)
	fmt.Printf("crowd/s %.0f\ncrowd_p50_us %.0f\ncrowd_p99_us %.0f\ncrowd_max_us %.0f\n",
		float64(len(all))/took, all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	fmt.Printf("crowd_least %d\ncrowd_median %d\ncrowd_most %d\n", counts[0],
		counts[len(counts)/2], counts[len(counts)-1])
	for _, conn := range conns {
		must(conn.Close())
	}
}
