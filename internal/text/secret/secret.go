package secret

import "strings"

// KeyStart finds where something like a vendor's key begins, -1 without one: a word
// with a known prefix and at least four characters after it. The word ends before
// the first character that is not a [KeyRune].
func KeyStart(text string) int {
	best := -1
	for _, prefix := range [...]string{"sk-", "sk_", "gsk_", "xai-", "hf_", "AIza", "nvapi-", "fw_", "csk-", "ghp_", "gho_", "ghu_",
		"ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "ASIA", "npm_", "tvly-"} {
		for from := 0; from < len(text); {
			i := strings.Index(text[from:], prefix)
			if i < 0 {
				break
			}
			i += from
			from = i + len(prefix)
			if i > 0 && KeyRune(rune(text[i-1])) {
				continue
			}
			rest := text[from:]
			if len(rest)-len(strings.TrimLeftFunc(rest, KeyRune)) >= 4 && (best < 0 || i < best) {
				best = i
			}
			break
		}
	}
	return best
}

// KeyRune reports whether a character may be in a key; stars stand for those that a
// server has left out.
func KeyRune(r rune) bool {
	return r == '-' || r == '_' || r == '*' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// shortestValue is the length from which a value is taken out of a text, in bytes: a
// shorter one is no secret, and would cut words apart.
const shortestValue = 6

// Redact puts "[key]" in the place of each of the values that are secret, and of
// whatever looks like a vendor's key.
func Redact(text string, values ...string) string {
	for _, v := range values {
		if len(v) >= shortestValue {
			text = strings.ReplaceAll(text, v, "[key]")
		}
	}
	var out strings.Builder
	for len(text) > 0 {
		i := KeyStart(text)
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		out.WriteString("[key]")
		text = strings.TrimLeftFunc(text[i:], KeyRune)
	}
	out.WriteString(text)
	return out.String()
}

// shortestKey is the length from which a vendor's key in a note counts as a real one;
// "sk-test" and "hf_hub" are words.
const shortestKey = 16

// Looks reports whether a text seems to hold a secret: a vendor's key, a private key, a
// signed token (JWT), a password in a URL, or a value given to a name like password
// or api_key.
func Looks(text string) bool {
	for rest := text; ; {
		i := KeyStart(rest)
		if i < 0 {
			break
		}
		word := len(rest[i:]) - len(strings.TrimLeftFunc(rest[i:], KeyRune))
		if word >= shortestKey {
			return true
		}
		rest = rest[i+word:]
	}
	if i := strings.Index(text, "-----BEGIN "); i >= 0 && strings.Contains(text[i:], "PRIVATE KEY-----") {
		return true
	}
	for word := range strings.FieldsSeq(text) {
		if token(word) || urlPassword(word) {
			return true
		}
	}
	for line := range strings.Lines(text) {
		if assigned(line) {
			return true
		}
	}
	return false
}

// token reports whether a word holds a JWT: three parts of base64url, the first of which
// is that of a JSON object (RFC 7519).
func token(word string) bool {
	i := strings.Index(word, "eyJ")
	if i < 0 {
		return false
	}
	parts := strings.SplitN(word[i:], ".", 3)
	return len(parts) == 3 && len(parts[0]) >= 10 && len(parts[1]) >= 10 && len(parts[2]) >= 10
}

// urlPassword reports whether a word is an address with a password in it.
func urlPassword(word string) bool {
	_, rest, ok := strings.Cut(word, "://")
	if !ok {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, _, ok := strings.Cut(authority, "@")
	if !ok {
		return false
	}
	_, password, ok := strings.Cut(user, ":")
	return ok && password != "" && !placeholder(password)
}

// secretName reports whether a name is one whose value is secret, however it is written.
func secretName(name string) bool {
	name = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	for _, n := range [...]string{"apikey", "token", "password", "passwd", "passphrase", "secret", "authorization", "credential", "accesskey", "privatekey"} {
		if strings.HasSuffix(name, n) || strings.HasSuffix(name, n+"s") {
			return true
		}
	}
	return false
}

// assigned reports whether a line gives a value to a secret's name: password = x9…,
// "apiKey": "…", Authorization: Bearer …
func assigned(line string) bool {
	for i, r := range line {
		if r != '=' && r != ':' {
			continue
		}
		before := strings.TrimRight(line[:i], " \t\"'`*")
		name := before[len(strings.TrimRightFunc(before, KeyRune)):]
		if !secretName(name) {
			continue
		}
		value := strings.TrimLeft(line[i+1:], " \t\"'`*")
		for _, scheme := range [...]string{"Bearer ", "Basic ", "bearer ", "basic "} {
			value = strings.TrimPrefix(value, scheme)
		}
		if end := strings.IndexAny(value, " \t\r\n\"'`,;"); end >= 0 {
			value = value[:end]
		}
		if random(value) {
			return true
		}
	}
	return false
}

// random reports whether a value looks made up by chance and not written as a word: at
// least eight characters with a digit and a letter, and no path, variable or call.
func random(value string) bool {
	if len(value) < 8 || placeholder(value) || strings.ContainsAny(value, "()") || strings.Count(value, "/") > 1 {
		return false
	}
	return strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	})
}

// placeholder reports whether a value stands for one that is elsewhere.
func placeholder(value string) bool {
	return strings.HasPrefix(value, "$") || strings.HasPrefix(value, "<") || strings.HasPrefix(value, "{") || strings.Trim(value, "*x.…X") == ""
}
