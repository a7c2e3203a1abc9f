package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestARemoteTerminalComesInOverTLSWithTokenAndFingerprint(t *testing.T) {
	s := newStation(t, answersAnything)
	id := s.session()
	s.ok("host", "serve", "--detach", "--listen", "wss://127.0.0.1:0")
	info, token := s.info(), strings.TrimSpace(s.ok("host", "token"))
	url := info.Addresses[1]
	there := newStation(t, answersAnything) // another home, which knows nothing
	there.fails(2, "--token-env", "attach", id, "--remote", url)
	there.fails(2, "is not set", "attach", id, "--remote", url, "--token-env", "DESK_TOKEN")
	there.fails(2, "belong to --remote", "attach", "--token-env", "DESK_TOKEN")
	there.environ = append(there.environ, "DESK_TOKEN="+token)
	there.fails(1, "x509", "attach", id, "--remote", url, "--token-env", "DESK_TOKEN")
	there.fails(1, "another certificate", "attach", id, "--remote", url, "--token-env", "DESK_TOKEN", "--fingerprint", strings.Repeat("00", 32))
	there.fails(1, "64 hex digits", "attach", id, "--remote", url, "--token-env", "DESK_TOKEN", "--fingerprint", "AB:CD")
	there.fails(1, "without encryption", "attach", id, "--remote", "ws://desk.example:1", "--token-env", "DESK_TOKEN")
	far := there.start("attach", id, "--remote", url, "--token-env", "DESK_TOKEN", "--fingerprint", info.Fingerprint)
	far.sees("assistant: An answer.")
	near := s.start("attach", id)
	near.sees("assistant: An answer.")
	far.types("from afar")
	near.sees("user: from afar\n")
	far.sees("── done")
	wrong := newStation(t, answersAnything)
	wrong.environ = append(wrong.environ, "DESK_TOKEN="+strings.Repeat("A", 43))
	wrong.fails(1, "could not prove", "attach", id, "--remote", url, "--token-env", "DESK_TOKEN", "--fingerprint", info.Fingerprint)
	if there.exists(".scorel/host.json") || there.exists(".scorel/host.header") {
		t.Error("a host was started for a remote session")
	}

	// Another token cuts off who came in with the one before; who can read it comes back.
	again := strings.TrimSpace(s.ok("host", "token", "--refresh"))
	if again == token || len(again) != 43 || strings.TrimSpace(s.ok("host", "token")) != again {
		t.Errorf("the new token is %d characters long", len(again))
	}
	far.sees("the connection is gone: the host has closed it: The host's token has been changed; connect again with the new one; trying again")
	far.sees("could not prove that it is the host")
	if far.ends() != 1 {
		t.Errorf("the exit code: %d", far.ends())
	}
	near.sees("connected again")
	near.types("still here")
	near.sees("user: still here\n")
	for _, text := range []string{far.printed(), near.printed(), s.read(".scorel/host.log"), s.read(".scorel/host.json")} {
		if strings.Contains(text, token) || strings.Contains(text, again) {
			t.Errorf("a token is shown: %s", text)
		}
	}
}

func TestTheTokenOfTheFileIsThatOfHTTP(t *testing.T) {
	s := newStation(t, answersAnything)
	s.ok("host", "serve", "--detach", "--listen", "127.0.0.1:0")
	url := strings.Replace(s.info().Addresses[1], "ws://", "http://", 1) + "/v1/status"
	status := func(header string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name, value, ok := strings.Cut(strings.TrimSpace(header), ": "); ok {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	old := s.read(".scorel/host.header")
	if got := status(old); got != http.StatusOK {
		t.Errorf("with the token: %d", got)
	}
	if got := status(""); got != http.StatusUnauthorized {
		t.Errorf("without: %d", got)
	}
	id := s.session()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(url, "/v1/status", "/v1/sessions/"+id+"/events", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", strings.TrimPrefix(strings.TrimSpace(old), "Authorization: "))
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if stream.StatusCode != http.StatusOK {
		t.Errorf("events: %d", stream.StatusCode)
	}
	s.ok("host", "token", "--refresh")
	late := time.AfterFunc(patience, func() { t.Error("the stream of events goes on"); _ = stream.Body.Close() })
	_, _ = io.Copy(io.Discard, stream.Body) // it ends
	late.Stop()
	_ = stream.Body.Close()
	if got := status(old); got != http.StatusUnauthorized {
		t.Errorf("with the one before: %d", got)
	}
	if got := status(s.read(".scorel/host.header")); got != http.StatusOK {
		t.Errorf("with the new one: %d", got)
	}
	if strings.Contains(s.read(".scorel/host.log"), strings.TrimSpace(strings.SplitAfter(old, "Bearer ")[1])) {
		t.Error("the log holds the token")
	}
}
