package secret

import (
	"strings"
	"testing"
)

func TestTextThatHoldsASecretIsSeen(t *testing.T) {
	for _, text := range []string{
		"the key is sk-ant-api03-abcdefghijklmnop",
		"use ghp_0123456789abcdefghij for pushes",
		"AKIAIOSFODNN7EXAMPLE",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
		"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZw",
		"postgres://app:hunter2@db.example/app",
		"DB_PASSWORD=s3cretvalue",
		`"apiKey": "a1b2c3d4e5f6"`,
		"Authorization: Bearer 0a1b2c3d4e5f",
		"a note\nadmin password: Tr0ub4dor&3\nmore",
		"**token**: `f00ba4b4z99`",
	} {
		if !Looks(text) {
			t.Errorf("not seen: %s", text)
		}
	}
}

func TestSecretsAreTakenOutOfAText(t *testing.T) {
	got := Redact("401 for plainvalue and sk-ant-1234***5678, at npm_abcdef: short", "plainvalue", "short", "")
	if want := "401 for [key] and [key], at [key]: short"; got != want {
		t.Errorf("%q", got)
	}
}

func TestWordsAboutSecretsAreNone(t *testing.T) {
	for _, text := range []string{
		"the tokens are counted by the provider: 4000 at most",
		"keys stand in OPENAI_API_KEY; token = $GITHUB_TOKEN",
		"password: <ask Anna>",
		"max_tokens = 32000",
		"the secret of the build: run make generate first",
		"task-runner and disk-usage are folders; sk-test is a fixture",
		"https://example.com/a:b@c",
		"password = readPassword(ctx, 8chars)",
		"token: internal/auth/token.go",
		"postgres://app:$PASSWORD@db/app",
		"",
	} {
		if Looks(text) {
			t.Errorf("taken for a secret: %s", text)
		}
	}
}

func TestAKeyIsFoundWhereItBegins(t *testing.T) {
	for text, want := range map[string]int{"x sk-abcd y": 2, "task-abcd": -1, "sk-abc": -1, "gho_1234 sk-1234": 0, "": -1} {
		if got := KeyStart(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzLooksTakesAnyText(f *testing.F) {
	f.Add("password: x1y2z3w4")
	f.Add("://@:" + strings.Repeat("eyJ.", 9))
	f.Fuzz(func(_ *testing.T, text string) { Looks(text) })
}
