package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEditChangesOneKeyAndNothingElse(t *testing.T) {
	const file = "# mine\nprompt = '''\na # b\n[model]\n''' # said\n\n[model] # which\n# the big one\nname = \"big\"   # today\nfallback = 'x'\n\n[permissions]\ndeny = [ # never\n  \"Bash(rm:*)\", # no ]\n]\n[models.\"a.b\"]\nid = \"c\"\napi = \"anthropic-messages\"\nbaseUrl = \"http://x\"\ncontextWindow = 2000\n"
	for _, c := range []struct{ name, key, value, old, new string }{
		{"in its place", "model.name", "demo", `name = "big"   # today`, `name = "demo"   # today`},
		{"as TOML", "model.name", `"de\"mo"`, `name = "big"   # today`, `name = "de\"mo"   # today`},
		{"a text that looks like a number", "model.name", "12", `name = "big"   # today`, `name = "12"   # today`},
		{"a list over several lines", "permissions.deny", `["Bash(x)"]`, "[ # never\n  \"Bash(rm:*)\", # no ]\n]", `["Bash(x)"]`},
		{"of several lines", "prompt", "short", "'''\na # b\n[model]\n''' # said", `"short" # said`},
		{"in its table", "model.thinking", "high", "fallback = 'x'\n", "fallback = 'x'\nthinking = \"high\"\n"},
		{"in the table of a quoted name", `models."a.b".maxTokens`, "5", "contextWindow = 2000\n", "contextWindow = 2000\nmaxTokens = 5\n"},
		{"in a table of its own", "sandbox.network", "false", "contextWindow = 2000\n", "contextWindow = 2000\n\n[sandbox]\nnetwork = false\n"},
		{"taken out", "model.fallback", "", "fallback = 'x'\n", ""},
		{"taken out with its lines", "permissions.deny", "", "deny = [ # never\n  \"Bash(rm:*)\", # no ]\n]\n", ""},
		{"what is not there taken out", "sandbox.network", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Edit(user(file), c.key, c.value)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(file, c.old, c.new, 1); string(got) != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEditWritesTheFirstKeyOfAFile(t *testing.T) {
	for _, c := range []struct{ file, key, value, want string }{
		{"", "model.name", "demo", "[model]\nname = \"demo\"\n"},
		{"", "prompt", "hi", "prompt = \"hi\"\n"},
		{"[model]\nname = \"a\"", "prompt", "hi", "prompt = \"hi\"\n[model]\nname = \"a\""},
		{"model.name = \"a\"", "model.fallback", "b", "model.name = \"a\"\nmodel.fallback = \"b\"\n"},
		{"[model]", "model.name", "a", "[model]\nname = \"a\"\n"},
		{"prompt = \"x\"\r\n", "prompt", "y", "prompt = \"y\"\r\n"},
	} {
		got, err := Edit(user(c.file), c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%q with %s: %q, %v; want %q", c.file, c.key, got, err, c.want)
		}
	}
}

func TestEditRefusesWhatWouldBeWrong(t *testing.T) {
	for _, c := range []struct{ file, key, value, want string }{
		{"", "modell.name", "x", "there is no config key"},
		{"", "model.name = 1 #", "x", "is not a config key"},
		{"", "model.thinking", "much", "model.thinking must be off, minimal"},
		{"", "limits.maxSteps", "many", "limits.maxSteps must be an integer"},
		{"", "models.x.headers.Authorization", "Bearer", "may hold a secret"},
		{"", "extensions.x.token", "t", "may hold a secret"},
		{"", "hooks", "[]", "by hand"},
		{"", "search.apiKeyEnv", "sk-12345", "says where keys are sent"},
		{"", "models.x.baseUrl", "https://elsewhere.example", "says where keys are sent"},
		{"", "web.proxy", "http://elsewhere.example", "says where keys are sent"},
		{"model = { name = \"x\" }\n", "model.name", "y", "inside another value"},
		{"modell = 1\n", "model.name", "y", "modell"},
		{"[model\n", "model.name", "y", "not valid TOML"},
		{"", "prompt", strings.Repeat("x", maxValue+1), "at most"},
		{"", "prompt", "use sk-ant-api03-abcdefghijklmnop0123456789", "a password or a key"},
		{"", "model.name", "https://me:geheim12345@models.example", "a password or a key"},
		{"", "prompt", `"s\u006b-ant-api03-abcdefghijklmnop0123456789"`, "a password or a key"},
		{"", "permissions.allow", `["Read", "Bash(echo s\u006b-ant-api03-abcdefghijklmnop0123456789)"]`, "a password or a key"},
	} {
		if got, err := Edit(user(c.file), c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %s = %.20q gives %q, %v; want %q", c.file, c.key, c.value, got, err, c.want)
		}
	}
}

// TestEditedFilesSayWhatWasSet sets texts of any kind and reads them back.
func TestEditedFilesSayWhatWasSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := []byte("# top\n[model] # m\nname = \"a\" # n\n")
		text := rapid.StringMatching(`[a-zA-Z"'#\[\]{}\\ =.]{1,20}`).Draw(t, "text")
		key := rapid.SampledFrom([]string{"prompt", "model.name", "model.fallback"}).Draw(t, "key")
		got, err := Edit(File{Name: "f", Data: file}, key, quoted(text))
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := Parse(File{Name: "f", Data: got}, File{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := map[string]string{"prompt": c.Prompt, "model.name": c.Model.Name, "model.fallback": c.Model.Fallback}[key]; v != text {
			t.Fatalf("%q instead of %q in\n%s", v, text, got)
		}
		again, err := Edit(File{Name: "f", Data: got}, key, "")
		if err != nil || key != "model.name" && string(again) != string(file) {
			t.Fatalf("taken out again: %q, %v", again, err)
		}
	})
}
