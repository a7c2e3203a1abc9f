// Command gen makes catalog.json from the tarball of the npm package
// @earendil-works/pi-ai. It keeps what the adapters here can call: chat models
// after Anthropic's Messages API, Chat Completions, Responses and the Gemini API,
// of providers that are used with a key and a fixed address.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"scorel/internal/engine/model/catalog"
)

func main() {
	from := flag.String("from", "", "tarball of the package")
	to := flag.String("to", "catalog.json", "file to write")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	pkg, err := readPackage(from)
	if err != nil {
		return err
	}
	var models []catalog.Model
	for _, m := range pkg.models {
		if out, ok := convert(m); ok {
			models = append(models, out)
		}
	}
	slices.SortFunc(models, func(a, b catalog.Model) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID), cmp.Compare(a.API, b.API))
	})
	models = slices.CompactFunc(models, func(a, b catalog.Model) bool { return a.Provider == b.Provider && a.ID == b.ID })
	providers := settle(models)
	text, err := render(pkg.origin, providers, models)
	if err != nil {
		return err
	}
	const most = 1 << 20
	if len(text) > most {
		return fmt.Errorf("%d bytes are more than %d", len(text), most)
	}
	fmt.Printf("%d providers, %d models, %d bytes\n", len(providers), len(models), len(text))
	return os.WriteFile(to, text, 0o644)
}

// settle makes the providers of the models, and takes out of the models the
// address that most models of their provider share.
func settle(models []catalog.Model) []catalog.Provider {
	var out []catalog.Provider
	for start := 0; start < len(models); {
		end := start
		count := map[string]int{}
		best := models[start]
		for ; end < len(models) && models[end].Provider == models[start].Provider; end++ {
			m := models[end]
			key := string(m.API) + " " + m.BaseURL
			if count[key]++; count[key] > count[string(best.API)+" "+best.BaseURL] {
				best = m
			}
		}
		name, env := describe(best.Provider)
		out = append(out, catalog.Provider{ID: best.Provider, Name: name, API: best.API, BaseURL: best.BaseURL, KeyEnv: env})
		for i := start; i < end; i++ {
			if models[i].BaseURL == best.BaseURL {
				models[i].BaseURL = ""
			}
		}
		start = end
	}
	return out
}

func render(origin catalog.Origin, providers []catalog.Provider, models []catalog.Model) ([]byte, error) {
	var b bytes.Buffer
	src, err := marshal(origin)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\"version\":1,\"source\":%s,\n", src)
	if err := list(&b, "providers", providers); err != nil {
		return nil, err
	}
	b.WriteString(",\n")
	if err := list(&b, "models", models); err != nil {
		return nil, err
	}
	b.WriteString("}\n")
	if !json.Valid(b.Bytes()) {
		return nil, fmt.Errorf("made invalid JSON")
	}
	return b.Bytes(), nil
}

func list[T any](b *bytes.Buffer, name string, items []T) error {
	fmt.Fprintf(b, "%q:[\n", name)
	for i, item := range items {
		line, err := marshal(item)
		if err != nil {
			return err
		}
		b.Write(line)
		if i < len(items)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]")
	return nil
}

func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil || strings.ContainsRune(string(raw), '\n') {
		return nil, fmt.Errorf("marshal: %w", err)
	}
	return raw, nil
}
