package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// server is the mock in its own process, seen from the bench.
type server struct {
	url string
	cmd *exec.Cmd
}

// startServer starts the mock. Stop ends it.
func startServer(ctx context.Context) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "mock")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("the model server did not start: %w", err)
	}
	return &server{url: strings.TrimSpace(line), cmd: cmd}, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// load hands the server its answers; see [mock.load].
func (s *server) load(ctx context.Context, script string, judge bool) error {
	path := "/bench/load"
	if judge {
		path += "?judge=1"
	}
	return s.call(ctx, http.MethodPost, path, script, nil)
}

// reset forgets what came and holds the response to request number hold.
func (s *server) reset(ctx context.Context, hold int) error {
	return s.call(ctx, http.MethodPost, fmt.Sprintf("/bench/reset?hold=%d", hold), "", nil)
}

// held returns when the request that is held has come.
func (s *server) held(ctx context.Context) error {
	return s.call(ctx, http.MethodGet, "/bench/held", "", nil)
}

func (s *server) release(ctx context.Context) error {
	return s.call(ctx, http.MethodPost, "/bench/release", "", nil)
}

// visits returns the requests that have been answered since the last reset.
func (s *server) visits(ctx context.Context) ([]visit, error) {
	var v []visit
	err := s.call(ctx, http.MethodGet, "/bench/visits", "", &v)
	return v, err
}

func (s *server) call(ctx context.Context, method, path, body string, to any) error {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("the model server: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return fmt.Errorf("the model server: %w", err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the model server: %s", strings.TrimSpace(string(data)))
	case to != nil:
		return json.Unmarshal(data, to)
	}
	return nil
}
