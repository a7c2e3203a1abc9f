package internal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A thing has one name on the wire. These are other names of things that have one.
var otherNames = map[string]string{
	"arguments": "args", "params": "args", "cwd": "workDir", "directory": "workDir", "folder": "workDir",
	"err": "error", "msg": "message", "sha": "sha256", "desc": "description", "session": "sessionId", "turn": "turnId",
	"toolUseId": "toolCallId", "callId": "toolCallId", "tool": "toolName", "mimeType": "mediaType",
	"created": "createdAt", "updated": "updatedAt", "time": "ts", "leaf": "leafId",
	"file_path": "path", "filePath": "path", "duration": "durationMs", "timeout": "timeoutMs",
}

func TestAThingHasOneNameOnTheWire(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../protocol/*.go", "../protocol/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 30 {
		t.Fatalf("%d files", len(files))
	}
	member, found := regexp.MustCompile("`json:\"([a-zA-Z0-9_]+)"), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range member.FindAllSubmatch(src, -1) {
			found++
			name := string(m[1])
			if better := otherNames[name]; better != "" {
				t.Errorf("%s has a member %s; elsewhere it is called %s", file, name, better)
			}
			if strings.Contains(name, "_") || strings.ToLower(name[:1]) != name[:1] {
				t.Errorf("%s has a member %s; the names of others are written like workDir", file, name)
			}
		}
	}
	if found < 500 {
		t.Errorf("%d members were seen", found)
	}
}
