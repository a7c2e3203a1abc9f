package dedup

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"scorel/protocol"
)

func request(n int) protocol.Call {
	return protocol.Call{RequestID: protocol.RequestID(fmt.Sprintf("req_%026d", n)), Request: &protocol.SetMode{Mode: fmt.Sprint(n)}}
}

func TestRequestsInFlightAreNeverForgottenAndAreBounded(t *testing.T) {
	var o Requests
	release := make(chan struct{})
	var wg sync.WaitGroup
	acted := make(chan int, 10*maxInFlight)
	carry := func(n int, wait bool) protocol.Reply {
		return o.Handle(context.Background(), "cli_a", request(n), func(context.Context) (protocol.Reply, bool) {
			acted <- n
			if wait {
				<-release
			}
			return protocol.Reply{RequestID: request(n).RequestID, Data: &protocol.Done{}}, true
		})
	}
	for n := range maxInFlight - 1 {
		wg.Go(func() { carry(n, true) })
		<-acted
	}
	for n := range 3 * maxResults { // these come and go, and push each other out
		carry(1000+n, false)
		<-acted
	}
	wg.Go(func() { carry(maxInFlight-1, true) })
	<-acted
	if r := carry(5000, false); r.Err == nil || r.Err.Code != protocol.CodeRateLimited {
		t.Errorf("one more than is allowed at once: %+v", r)
	}
	if r := o.Handle(context.Background(), "cli_b", request(5000), func(context.Context) (protocol.Reply, bool) { return protocol.Reply{Data: &protocol.Done{}}, true }); r.Err != nil {
		t.Errorf("another client: %+v", r.Err)
	}
	second := make(chan protocol.Reply, 1)
	wg.Go(func() { second <- carry(0, true) }) // the first one of all, sent again
	for n := range 2 * maxResultClients {      // other clients do not push it out either
		o.Handle(context.Background(), protocol.ClientID(fmt.Sprint("cli_", n)), request(1), func(context.Context) (protocol.Reply, bool) { return protocol.Reply{Data: &protocol.Done{}}, true })
	}
	close(release)
	wg.Wait()
	if r := <-second; r.Err != nil {
		t.Errorf("the repeat: %+v", r.Err)
	}
	if len(acted) > 0 {
		t.Errorf("request %d acted again", <-acted)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.clients["cli_a"]; r.flying != 0 || len(r.byID) != maxResults || len(r.order) != maxResults {
		t.Errorf("%d in flight, %d results remembered, %d in order", r.flying, len(r.byID), len(r.order))
	}
	if len(o.clients) > maxResultClients || len(o.order) != len(o.clients) {
		t.Errorf("%d clients are remembered, %d in order", len(o.clients), len(o.order))
	}
}
