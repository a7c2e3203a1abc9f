package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestRequestsOfOtherProtocolsReachNoPrivateNetwork(t *testing.T) {
	addresses := map[string]string{"private.example.": "10.0.0.1", "here.example.": "127.0.0.1", "metadata.example.": "169.254.169.254", "public.example.": "93.184.216.34"}
	var dialled []string
	errDialled := errors.New("dialled")
	c, err := New(Config{network: network{
		lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(addresses[strings.TrimSuffix(name, ".")+"."])}, nil
		},
		connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			dialled = append(dialled, to.String())
			return nil, errDialled
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rt := c.RoundTripper(100, "https://mine.example:8443")
	for url, why := range map[string]string{
		"https://private.example/x": "private", "https://here.example/x": "this machine", "https://metadata.example/x": "link-local",
		"https://localhost/x": "this machine", "https://127.0.0.1/x": "this machine", "http://public.example:8080/x": "without https",
		"https://mine.example.evil.example@10.0.0.1:8443/x": "user name",
	} {
		req, err := http.NewRequest(http.MethodPost, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := rt.RoundTrip(req); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, %v", url, res, err)
		}
	}
	if len(dialled) > 0 {
		t.Errorf("dialled %q", dialled)
	}
	req, err := http.NewRequest(http.MethodPost, "https://public.example/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.RoundTrip(req); !errors.Is(err, errDialled) || len(dialled) != 1 || dialled[0] != "93.184.216.34:443" {
		t.Errorf("a public address: %v, dialled %q", err, dialled)
	}
}
