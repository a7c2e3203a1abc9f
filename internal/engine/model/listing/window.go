package listing

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"scorel/internal/engine/model"
)

// Context windows that are believed, in tokens.
const (
	minWindow = 1000
	maxWindow = 1 << 30
)

// maxWindowAsks is how many models [Windows] asks about; the others have no window.
const maxWindowAsks = 8

// Windows returns the context windows of models in tokens, of those that the server tells.
// It knows where Ollama (/api/ps, /api/show), LM Studio (/api/v0/models), vLLM (/v1/models)
// and llama.cpp (/props) have them, and asks these addresses side by side, only of a server
// that speaks OpenAI's Chat Completions. What does not answer before ctx ends tells nothing.
func Windows(ctx context.Context, s Server, ids []string) map[string]int {
	out := map[string]int{}
	if s.API != model.APIOpenAI {
		return out
	}
	ids = ids[:min(len(ids), maxWindowAsks)]
	root, _ := strings.CutSuffix(strings.TrimRight(s.BaseURL, "/"), "/v1")
	var loaded, studio, vllm map[string]int
	var props int
	shown := make([]int, len(ids))
	var wg sync.WaitGroup
	ask := func(path string, body any, read func([]byte)) {
		wg.Go(func() { // ends with ctx
			if data, ok := s.get(ctx, root+path, body); ok {
				read(data)
			}
		})
	}
	ask("/api/ps", nil, func(data []byte) { loaded = loadedWindows(data) })
	ask("/api/v0/models", nil, func(data []byte) { studio = listedWindows(data) })
	ask("/v1/models", nil, func(data []byte) { vllm = listedWindows(data) })
	ask("/props", nil, func(data []byte) { props = propsWindow(data) })
	for i, id := range ids {
		ask("/api/show", map[string]string{"model": id}, func(data []byte) { shown[i] = shownWindow(data) })
	}
	wg.Wait()
	for i, id := range ids {
		for _, n := range []int{loaded[id], loaded[id+":latest"], studio[id], vllm[id], shown[i], props} {
			if n >= minWindow && n <= maxWindow {
				out[id] = n
				break
			}
		}
	}
	return out
}

// get asks an address of the server, with a POST where there is a body. It follows no
// redirect.
func (s Server) get(ctx context.Context, address string, body any) ([]byte, bool) {
	if _, err := url.Parse(address); err != nil {
		return nil, false
	}
	method, in := http.MethodGet, io.Reader(nil)
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, false
		}
		method, in = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, in)
	if err != nil {
		return nil, false
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	client := s.client()
	resp, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	return data, err == nil && len(data) <= maxBody
}

// loadedWindows reads what Ollama has loaded, each with the window that it was loaded with.
func loadedWindows(data []byte) map[string]int {
	var got struct {
		Models []struct {
			Model  string `json:"model"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	if json.Unmarshal(data, &got) != nil {
		return nil
	}
	out := map[string]int{}
	for _, m := range got.Models {
		out[m.Model] = m.Window
	}
	return out
}

// listedWindows reads the lists of LM Studio and vLLM. The window that a model is loaded
// with counts before the largest that it can have.
func listedWindows(data []byte) map[string]int {
	var got struct {
		Data []struct {
			ID     string `json:"id"`
			Loaded int    `json:"loaded_context_length"`
			Max    int    `json:"max_context_length"`
			Len    int    `json:"max_model_len"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &got) != nil {
		return nil
	}
	out := map[string]int{}
	for _, m := range got.Data {
		for _, n := range []int{m.Loaded, m.Max, m.Len} {
			if n > 0 {
				out[m.ID] = n
				break
			}
		}
	}
	return out
}

// propsWindow reads what llama.cpp says of itself.
func propsWindow(data []byte) int {
	var got struct {
		Defaults struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Window int `json:"n_ctx"`
	}
	if json.Unmarshal(data, &got) != nil {
		return 0
	}
	return max(got.Defaults.Window, got.Window)
}

// shownWindow reads what Ollama says of a model: the window in its parameters, else the
// largest that it can have.
func shownWindow(data []byte) int {
	var got struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	if json.Unmarshal(data, &got) != nil {
		return 0
	}
	for line := range strings.Lines(got.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			if n, err := strconv.Atoi(f[1]); err == nil {
				return n
			}
		}
	}
	arch, _ := got.Info["general.architecture"].(string)
	if n, ok := got.Info[arch+".context_length"].(float64); ok {
		return int(n)
	}
	largest := 0
	for key, value := range got.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			largest = max(largest, int(n))
		}
	}
	return largest
}
