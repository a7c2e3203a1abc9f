package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	toolindex "scorel/internal/engine/tool/search"
)

// searchedTools is how many tools the index of the figure has.
const searchedTools = 5000

// toolSearch measures the index that a model finds tools with: how long it takes to make,
// what it holds, and how long a search takes.
func toolSearch(_ context.Context, _ *bench, n int) ([]figure, error) {
	build := figure{Key: "toolsearch.build", Name: "index of 5,000 tools, made", Unit: "ms", Goal: 150}
	held := figure{Key: "toolsearch.held", Name: "index of 5,000 tools, held", Unit: "MB", Goal: 15}
	p99 := figure{Key: "toolsearch.p99", Name: "search in 5,000 tools, 99th percentile", Unit: "ms", Goal: 3}
	docs := toolDocuments()
	queries := []string{"create an issue in a repository", "+browser click on the button", "send a message to a channel", "select:mcp__server12__query_9,mcp__server3__list_4", "数据库 查询", "nothing that is there"}
	for range max(3, n/4) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		index := toolindex.New(docs, toolindex.ToolWeights())
		build.Values = append(build.Values, milliseconds(time.Since(began)))
		runtime.GC()
		runtime.ReadMemStats(&after)
		held.Values = append(held.Values, float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1e6)
		var took series
		for i := range 600 {
			q := toolindex.Parse(queries[i%len(queries)])
			began := time.Now()
			index.Find(q, 5)
			took = append(took, milliseconds(time.Since(began)))
		}
		p99.Values = append(p99.Values, took.quantile(0.99))
		runtime.KeepAlive(index)
	}
	return []figure{build, held, p99}, nil
}

// toolDocuments are tools as servers describe them.
func toolDocuments() []toolindex.Document {
	verbs := []string{"create", "list", "get", "update", "delete", "search", "send", "query", "click", "export"}
	objects := []string{"an issue", "a pull request", "a message", "a channel", "a table", "a page of the browser", "a file", "a branch", "a calendar entry", "数据库 记录"}
	docs := make([]toolindex.Document, searchedTools)
	for i := range docs {
		verb, object := verbs[i%len(verbs)], objects[i/len(verbs)%len(objects)]
		docs[i] = toolindex.Document{Name: fmt.Sprintf("mcp__server%d__%s_%d", i/100, verb, i%100),
			Description: fmt.Sprintf("Use this to %s %s of the service number %d. Returns the object with its fields, or says why it was not possible. Needs the identifier, which a listing returns.", verb, object, i/100)}
	}
	return docs
}
