package catalog

import (
	_ "embed" // the data
	"encoding/json"
	"iter"
	"strings"

	"scorel/internal/engine/model"
)

//go:embed catalog.json
var data string

// Origin returns where the data comes from.
type Origin struct {
	Package string `json:"package"`
	Version string `json:"version"`
	License string `json:"license"`
	Date    string `json:"date"` // of the package, YYYY-MM-DD
}

// Provider serves models.
type Provider struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"` // for people
	API     model.API `json:"api"`
	BaseURL string    `json:"baseUrl"`
	KeyEnv  []string  `json:"keyEnv"` // the usual variables of its key, best first
}

// Model is one model of one provider. BaseURL and API are its own.
type Model struct {
	ID            string                          `json:"id"`
	Provider      string                          `json:"provider"`
	API           model.API                       `json:"api"`
	BaseURL       string                          `json:"baseUrl,omitempty"` // empty: the provider's
	ContextWindow int                             `json:"contextWindow"`     // tokens
	MaxTokens     int                             `json:"maxTokens"`         // of one answer
	Input         []string                        `json:"input"`             // text, image, pdf
	Thinking      map[model.ThinkingLevel]*string `json:"thinking,omitempty"`
	Cache         bool                            `json:"cache,omitempty"` // takes cache marks
	Price         model.Price                     `json:"price"`           // US dollars per million tokens
	Images        *Images                         `json:"images,omitempty"`
	Compat        *model.Compat                   `json:"compat,omitempty"`
	Headers       map[string]string               `json:"headers,omitempty"`
}

// Images are the limits for images.
type Images struct {
	MaxBytes int `json:"maxBytes"` // of one, in base64
}

// Source returns where the data comes from.
func Source() Origin {
	var head struct {
		Source Origin `json:"source"`
	}
	// The first line is the object without its lists.
	line, _, _ := strings.Cut(data, "\n")
	if json.Unmarshal([]byte(strings.TrimSuffix(line, ",")+"}"), &head) != nil {
		return Origin{}
	}
	return head.Source
}

// Providers returns all providers, sorted by id.
func Providers() iter.Seq[Provider] {
	return func(yield func(Provider) bool) {
		lines(section("providers"), func(line string) bool {
			var p Provider
			return json.Unmarshal([]byte(line), &p) != nil || yield(p)
		})
	}
}

// FindProvider looks a provider up by its id.
func FindProvider(id string) (Provider, bool) {
	var p Provider
	line, ok := find(section("providers"), `{"id":`+quote(id)+`,`)
	return p, ok && json.Unmarshal([]byte(line), &p) == nil && p.ID == id
}

// Models returns all models, sorted by provider and id.
func Models() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		lines(section("models"), func(line string) bool {
			var m Model
			return json.Unmarshal([]byte(line), &m) != nil || yield(m)
		})
	}
}

// Refs returns "provider/id" of all models, sorted by provider and id, without
// decoding more than that.
func Refs() iter.Seq2[string, string] {
	return func(yield func(provider, id string) bool) {
		lines(section("models"), func(line string) bool {
			provider, id, ok := ref(line)
			return !ok || yield(provider, id)
		})
	}
}

// Matching returns the models whose "provider/id" fits, sorted by provider and id, and
// decodes no others.
func Matching(fits func(ref string) bool) iter.Seq[Model] {
	return func(yield func(Model) bool) {
		lines(section("models"), func(line string) bool {
			var m Model
			provider, id, ok := ref(line)
			return !ok || !fits(provider+"/"+id) || json.Unmarshal([]byte(line), &m) != nil || yield(m)
		})
	}
}

// ref returns the names at the beginning of a line, without decoding it where they need no
// decoding: all lines are looked at to find those of a provider.
func ref(line string) (provider, id string, ok bool) {
	head, _, ok := strings.Cut(line, `,"api":`)
	if !ok {
		return "", "", false
	}
	if rest, plain := strings.CutPrefix(head, `{"id":"`); plain && !strings.Contains(rest, `\`) {
		if id, rest, plain = strings.Cut(rest, `","provider":"`); plain && strings.HasSuffix(rest, `"`) {
			return strings.TrimSuffix(rest, `"`), id, true
		}
	}
	var m struct{ ID, Provider string }
	ok = json.Unmarshal([]byte(head+"}"), &m) == nil
	return m.Provider, m.ID, ok
}

// Find looks a model up.
func Find(provider, id string) (Model, bool) {
	var m Model
	line, ok := find(section("models"), `{"id":`+quote(id)+`,"provider":`+quote(provider)+`,`)
	if !ok || json.Unmarshal([]byte(line), &m) != nil {
		return Model{}, false
	}
	return m, true
}

// FindID looks up all models with an id, whatever their provider.
func FindID(id string) []Model {
	var out []Model
	rest := section("models")
	for {
		line, ok := find(rest, `{"id":`+quote(id)+`,`)
		if !ok {
			return out
		}
		var m Model
		if json.Unmarshal([]byte(line), &m) == nil {
			out = append(out, m)
		}
		rest = rest[strings.Index(rest, line)+len(line):]
	}
}

// Info describes the model for an adapter. Ref is "provider/id".
func (m Model) Info() model.Info {
	info := model.Info{
		Ref: m.Provider + "/" + m.ID, Provider: m.Provider, ID: m.ID, API: m.API, BaseURL: m.BaseURL,
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Cache: m.Cache, Price: m.Price,
	}
	if info.BaseURL == "" {
		p, _ := FindProvider(m.Provider)
		info.BaseURL = p.BaseURL
	}
	for _, in := range m.Input {
		switch in {
		case "image":
			info.Images = true
		case "pdf":
			info.PDF = true
		}
	}
	if m.Images != nil {
		info.MaxImageBytes = m.Images.MaxBytes
	}
	if m.Compat != nil {
		info.Compat = *m.Compat
	}
	for _, l := range model.ThinkingLevels() {
		word, ok := m.Thinking[l]
		if !ok || word == nil && l != model.ThinkingOff {
			continue
		}
		if info.Compat.Levels == nil {
			info.Compat.Levels = map[model.ThinkingLevel]string{}
		}
		info.Compat.Levels[l] = ""
		if word != nil {
			info.Compat.Levels[l] = *word
		}
		if l != model.ThinkingOff {
			info.Thinking = append(info.Thinking, l)
		}
	}
	return info
}

// section returns the lines of a list of the document.
func section(name string) string {
	_, rest, ok := strings.Cut(data, "\n\""+name+"\":[\n")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n]")
	return rest
}

func lines(s string, yield func(line string) bool) {
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" && !yield(strings.TrimSuffix(line, ",")) {
			return
		}
	}
}

// find returns the first line that begins with prefix.
func find(s, prefix string) (string, bool) {
	at := 0
	if !strings.HasPrefix(s, prefix) {
		at = strings.Index(s, "\n"+prefix) + 1
		if at == 0 {
			return "", false
		}
	}
	line, _, _ := strings.Cut(s[at:], "\n")
	return strings.TrimSuffix(line, ","), true
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
