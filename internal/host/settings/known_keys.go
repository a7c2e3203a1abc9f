package settings

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

// KeyValues returns the values of the keys that the host knows: of variables, those that
// were entered, and the headers of models.
func (st *Settings) KeyValues(cfg config.Config) (values []string) {
	for _, name := range append(resolve.KeyVariables(st.Resolver(cfg)), cfg.Search.APIKeyEnv) {
		if v, ok := st.LookupEnv(name); ok && name != "" {
			values = append(values, strings.TrimSpace(v))
		}
	}
	for _, a := range cfg.Models {
		values = slices.AppendSeq(values, maps.Values(a.Headers))
	}
	entered, err := credentials.Load(st.FS, st.CredentialsFile())
	if err != nil {
		return values // then none of them is used either
	}
	return append(values, entered.Values()...)
}

// KnownKeys are keys that are taken out of texts. The zero value knows none; it may be
// used by several goroutines at once.
type KnownKeys struct{ values atomic.Pointer[[]string] }

func (k *KnownKeys) Set(values []string) { k.values.Store(&values) }

// Clean returns a text without keys.
func (k *KnownKeys) Clean(text string) string {
	if v := k.values.Load(); v != nil {
		return secret.Redact(text, *v...)
	}
	return secret.Redact(text)
}
