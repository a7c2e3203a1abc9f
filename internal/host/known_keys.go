package host

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"scorel/internal/engine/config"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/text/secret"
)

// keyValues gives the values of the keys that the host knows: of variables, those that
// were entered, and the headers of models.
func (h *Host) keyValues(cfg config.Config) (values []string) {
	for _, name := range append(resolve.KeyVariables(h.resolver(cfg)), cfg.Search.APIKeyEnv) {
		if v, ok := h.lookupEnv(name); ok && name != "" {
			values = append(values, strings.TrimSpace(v))
		}
	}
	for _, a := range cfg.Models {
		values = slices.AppendSeq(values, maps.Values(a.Headers))
	}
	entered, err := credentials.Load(h.cfg.FS, h.credentialsFile())
	if err != nil {
		return values // then none of them is used either
	}
	return append(values, entered.Values()...)
}

// knownKeys are keys that are taken out of texts. The zero value knows none; it may be
// used by several goroutines at once.
type knownKeys struct{ values atomic.Pointer[[]string] }

func (k *knownKeys) set(values []string) { k.values.Store(&values) }

// clean gives a text without keys.
func (k *knownKeys) clean(text string) string {
	if v := k.values.Load(); v != nil {
		return secret.Redact(text, *v...)
	}
	return secret.Redact(text)
}
