package main

import (
	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
)

func compression() gocql.Compressor {
	return lz4.LZ4Compressor{}
}
