// Command hoster is killed by the tests of package crashtest. It is a serving host of
// the home HOME with one interactive client, whose calls it reads from stdin, one JSON
// object a line; replies and frames go to stdout the same way.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "hoster: give the id of the client")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "hoster:", serve(context.Background(), protocol.ClientID(os.Args[1])))
	os.Exit(1)
}

// serve ends with an error or at the end of stdin.
func serve(ctx context.Context, client protocol.ClientID) error {
	home := os.Getenv("HOME")
	h, err := host.New(host.Config{Dir: filepath.Join(home, ".scorel"), UserHome: home, Environ: os.Environ(), Serving: true,
		Version: "killtest", Now: time.Now, Rand: rand.Reader})
	if err != nil {
		return err
	}
	conn, err := h.Connect(ctx, protocol.Hello{ProtocolVersion: protocol.Version, ClientID: client, ClientName: "killtest", Interactive: true}, protocol.GrantControl)
	if err != nil {
		return err
	}
	var mu sync.Mutex // one line at a time
	say := func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.Write(append(line, '\n'))
	}
	go func() { // ends with the process
		for {
			f, err := conn.Recv(ctx)
			if err != nil {
				return
			}
			if data, err := protocol.MarshalFrame(f); err == nil {
				say(data)
			}
		}
	}()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, protocol.MaxMessage)
	for in.Scan() {
		call, err := protocol.ParseCall(bytes.Clone(in.Bytes()))
		if err != nil {
			return err
		}
		go func() { // ends with the call
			reply, err := conn.Call(ctx, call)
			if err != nil {
				return
			}
			if data, err := json.Marshal(reply); err == nil {
				say(data)
			}
		}()
	}
	return in.Err()
}
