package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// How often a tool is called, and how many extensions a session has.
const (
	replacedCalls  = 200 // in one answer: the difference of two runs is spread over them
	manyExtensions = 10
)

// reading is an extension with a tool that delegates to the built-in read; its name decides
// whether it replaces that.
const reading = `import { createReadTool } from "@earendil-works/pi-coding-agent";
export default function (pi: any) {
  const read = createReadTool(process.cwd());
  pi.registerTool({ name: %q, label: "read", description: read.description, parameters: read.parameters,
    execute: (id: string, args: any, signal: any, update: any) => read.execute(id, args, signal, update) });
}
`

// smallExtension is an extension as people have many of: a tool, a command and two handlers.
const smallExtension = `export default function (pi: any) {
  pi.on("session_start", async () => {});
  pi.on("tool_call", async () => undefined);
  pi.registerTool({ name: "small%[1]d", label: "small", description: "Does a small thing.", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "done" }] }) });
  pi.registerCommand("small%[1]d", { description: "small", handler: async () => {} });
}
`

// withExtensions writes extensions of the user, and returns what removes them again.
func (b *bench) withExtensions(sources ...string) (remove func(), err error) {
	dir := filepath.Join(b.world.home, ".scorel", "extensions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var names []string
	remove = func() {
		for _, name := range names {
			_ = os.Remove(name) // the world goes with them
		}
	}
	for i, source := range sources {
		name := filepath.Join(dir, fmt.Sprintf("measured%d.ts", i))
		names = append(names, name)
		if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
			remove()
			return nil, err
		}
	}
	return remove, nil
}

// replacedTool measures what a replaced read takes over the built-in one: the difference of
// two runs with the same extension, which replaces it in one of them only.
func replacedTool(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "replaced", Name: "a replaced read, over the built-in", Unit: "ms", Goal: 0.5}
	call := `{"call":"Read","input":{"path":"notes.txt","limit":1}}`
	t := task{name: f.Name, args: []string{"-p", "Read."}, script: fmt.Sprintf("{\"script\":1}\n{\"do\":[%s]}\n{\"do\":[{\"text\":\"Read it.\"}]}\n", strings.TrimSuffix(strings.Repeat(call+",", replacedCalls), ",")),
		requests: 2, messages: 2 + replacedCalls, stdout: "Read it."}
	for range max(3, n/4) {
		var took [2]float64
		for i, name := range [...]string{"another", "read"} {
			remove, err := b.withExtensions(fmt.Sprintf(reading, name))
			if err != nil {
				return []figure{f}, err
			}
			if err = b.server.load(ctx, t.script, false); err == nil {
				if _, err = b.once(ctx, t); err == nil { // its bundle is in the cache then
					settle()
					var p process
					p, err = b.once(ctx, t)
					took[i] = p.WallMS
				}
			}
			remove()
			if err != nil {
				return []figure{f}, err
			}
		}
		f.Values = append(f.Values, max(0, took[1]-took[0])/replacedCalls)
	}
	return []figure{f}, nil
}

// tenExtensions measures how long the first request of a session with ten extensions takes
// from the start of the program.
func tenExtensions(ctx context.Context, b *bench, n int) ([]figure, error) {
	f := figure{Key: "ten", Name: "first request of a session with ten extensions", Unit: "ms", Goal: 60}
	var sources []string
	for i := range manyExtensions {
		sources = append(sources, fmt.Sprintf(smallExtension, i))
	}
	remove, err := b.withExtensions(sources...)
	if err != nil {
		return []figure{f}, err
	}
	defer remove()
	t := task{name: f.Name, args: []string{"-p", "Say that you are there."}, script: inOrder(0, `{"text":"I am there."}`), requests: 1, messages: 1, stdout: "I am there."}
	if err := b.check(ctx, t); err != nil { // the bundles are in the cache then
		return []figure{f}, err
	}
	if err := b.server.load(ctx, t.script, false); err != nil {
		return []figure{f}, err
	}
	for range max(5, n) {
		settle()
		p, err := b.once(ctx, t)
		if err != nil {
			return []figure{f}, err
		}
		f.Values = append(f.Values, p.FirstMS)
	}
	return []figure{f}, nil
}
