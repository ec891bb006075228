package main

import "github.com/gocql/gocql"

// This version of the driver brings snappy along.
func compression() gocql.Compressor {
	return gocql.SnappyCompressor{}
}
