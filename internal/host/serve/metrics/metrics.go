// Package metrics counts what a server does and writes it in the text format of
// Prometheus (version 0.0.4, prometheus.io/docs/instrumenting/exposition_formats).
// A [Metrics] may be used by any number of goroutines at once. Labels come from
// closed sets, so its memory is bounded.
package metrics

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Metrics are the counters of one server.
type Metrics struct {
	frames, frameBytes  atomic.Uint64
	replies, replyBytes atomic.Uint64
	stalled, silent     atomic.Uint64

	mu        sync.Mutex // guards what follows
	connected map[string]int
	accepted  map[string]uint64
	refused   map[string]uint64
	resyncs   map[string]uint64
	results   map[[2]string]uint64 // of requests, by name and result
	latency   map[string]*histogram
}

// New makes counters that stand at 0.
func New() *Metrics {
	return &Metrics{connected: map[string]int{}, accepted: map[string]uint64{}, refused: map[string]uint64{}, resyncs: map[string]uint64{},
		results: map[[2]string]uint64{}, latency: map[string]*histogram{}}
}

// Connected counts a connection that has proved itself; Disconnected its end.
func (m *Metrics) Connected(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.connected[kind]++
	m.accepted[kind]++
}

// Disconnected counts the end of a connection.
func (m *Metrics) Disconnected(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.connected[kind]--
}

// Refused counts somebody who was not let in.
func (m *Metrics) Refused(reason string) { m.count(m.refused, reason) }

// Resync counts the beginning of a subscription, or one of its new beginnings.
func (m *Metrics) Resync(mode string) { m.count(m.resyncs, mode) }

func (m *Metrics) count(in map[string]uint64, label string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in[label]++
}

// Frame counts a frame of so many bytes that is sent, Reply a reply.
func (m *Metrics) Frame(bytes int) {
	m.frames.Add(1)
	m.frameBytes.Add(uint64(bytes))
}

// Reply counts a reply of so many bytes that is sent.
func (m *Metrics) Reply(bytes int) {
	m.replies.Add(1)
	m.replyBytes.Add(uint64(bytes))
}

// Stalled counts a write that got stuck, Silent a client that was given up.
func (m *Metrics) Stalled() { m.stalled.Add(1) }

// Silent counts a client that gave no sign of life.
func (m *Metrics) Silent() { m.silent.Add(1) }

// Request counts a request that was answered with a result ("ok" or the code of its
// error) after so long.
func (m *Metrics) Request(name, result string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[[2]string{name, result}]++
	h := m.latency[name]
	if h == nil {
		h = &histogram{}
		m.latency[name] = h
	}
	h.add(took)
}

// histogram counts durations by their upper bounds.
type histogram struct {
	counts [13]uint64 // the last is above all bounds
	sum    time.Duration
	n      uint64
}

// bounds are the upper bounds of a histogram.
func bounds() [12]time.Duration {
	return [12]time.Duration{500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
		25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second}
}

func (h *histogram) add(d time.Duration) {
	b := bounds()
	i := 0
	for i < len(b) && d > b[i] {
		i++
	}
	h.counts[i]++
	h.n++
	h.sum += d
}

// Host is what the host is doing, for the gauges that are not counted here.
type Host struct {
	Known           bool // the numbers below are
	Sessions, Turns int
}

// Write writes all numbers as they are now.
func (m *Metrics) Write(out io.Writer, host Host) error {
	w := &writer{out: out}
	m.mu.Lock()
	connected, accepted, refused, resyncs := maps.Clone(m.connected), maps.Clone(m.accepted), maps.Clone(m.refused), maps.Clone(m.resyncs)
	results := maps.Clone(m.results)
	latency := map[string]histogram{}
	for name, h := range m.latency {
		latency[name] = *h
	}
	m.mu.Unlock()

	w.head("scorel_connections", "gauge", "Connections that have proved themselves.")
	for _, kind := range slices.Sorted(maps.Keys(connected)) {
		w.line("scorel_connections{kind=%q} %d", kind, connected[kind])
	}
	w.byLabel("scorel_connections_total", "Connections that have proved themselves since the start.", "kind", accepted)
	w.byLabel("scorel_refusals_total", "Connections and requests that were refused.", "reason", refused)
	w.byLabel("scorel_resyncs_total", "Beginnings of a subscription.", "mode", resyncs)
	w.head("scorel_requests_total", "counter", "Requests that were answered.")
	for _, key := range slices.SortedFunc(maps.Keys(results), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		w.line("scorel_requests_total{request=%q,result=%q} %d", key[0], key[1], results[key])
	}
	w.head("scorel_request_seconds", "histogram", "How long requests took.")
	for _, name := range slices.Sorted(maps.Keys(latency)) {
		w.histogram(name, latency[name])
	}
	w.number("scorel_frames_sent_total", "counter", "Frames that were sent.", m.frames.Load())
	w.number("scorel_frame_bytes_sent_total", "counter", "Bytes of those frames.", m.frameBytes.Load())
	w.number("scorel_replies_sent_total", "counter", "Replies that were sent.", m.replies.Load())
	w.number("scorel_reply_bytes_sent_total", "counter", "Bytes of those replies.", m.replyBytes.Load())
	w.number("scorel_write_stalls_total", "counter", "Connections that were closed because a write got stuck.", m.stalled.Load())
	w.number("scorel_silent_clients_total", "counter", "Connections that were closed because the client was silent.", m.silent.Load())
	if host.Known {
		w.number("scorel_sessions_open", "gauge", "Sessions that are open.", uint64(host.Sessions))
		w.number("scorel_turns_running", "gauge", "Sessions in which a turn runs.", uint64(host.Turns))
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	w.number("scorel_goroutines", "gauge", "Goroutines of the process.", uint64(runtime.NumGoroutine()))
	w.number("scorel_heap_bytes", "gauge", "Bytes of the heap that are in use.", mem.HeapInuse)
	w.number("scorel_memory_bytes", "gauge", "Bytes that the process has from the system.", mem.Sys-mem.HeapReleased)
	return w.err
}

// writer writes lines; the first error stays.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format+"\n", args...)
	}
}

func (w *writer) head(name, typ, help string) {
	w.line("# HELP %s %s", name, help)
	w.line("# TYPE %s %s", name, typ)
}

func (w *writer) number(name, typ, help string, n uint64) {
	w.head(name, typ, help)
	w.line("%s %d", name, n)
}

func (w *writer) byLabel(name, help, label string, counts map[string]uint64) {
	w.head(name, "counter", help)
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		w.line("%s{%s=%q} %d", name, label, value, counts[value])
	}
}

func (w *writer) histogram(name string, h histogram) {
	var sum uint64
	for i, b := range bounds() {
		sum += h.counts[i]
		w.line("scorel_request_seconds_bucket{request=%q,le=\"%g\"} %d", name, b.Seconds(), sum)
	}
	w.line("scorel_request_seconds_bucket{request=%q,le=\"+Inf\"} %d", name, h.n)
	w.line("scorel_request_seconds_sum{request=%q} %g", name, h.sum.Seconds())
	w.line("scorel_request_seconds_count{request=%q} %d", name, h.n)
}
