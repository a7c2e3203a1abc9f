package sandbox

import (
	"path/filepath"
	"strings"
)

// seatbelt returns the profile for macOS's sandbox-exec, in its own language: all
// is allowed but what is denied, and a later rule beats an earlier one. It was
// written by the system's own profiles in /System/Library/Sandbox/Profiles and
// is tested as text only.
func (p Profile) seatbelt() string {
	var b strings.Builder
	b.WriteString("(version 1)\n(allow default)\n")
	b.WriteString("(deny file-write*)\n")
	for _, dir := range p.seatbeltWritable() {
		rule(&b, "allow file-write*", "subpath", dir)
	}
	for _, dev := range []string{"/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper"} {
		rule(&b, "allow file-write*", "literal", dev)
	}
	b.WriteString("(allow file-write* (regex #\"^/dev/ttys[0-9]+$\"))\n(allow file-write* (literal \"/dev/ptmx\"))\n")
	for _, root := range p.Roots {
		for _, path := range protect(root).watched {
			rule(&b, "deny file-write*", "subpath", path)
		}
		rule(&b, "deny file-write*", "literal", filepath.Join(root, ".git")) // so that it cannot be moved away
	}
	for _, dir := range p.Closed {
		rule(&b, "deny file-read* file-write*", "subpath", resolved(dir))
	}
	for _, dir := range p.Shown {
		rule(&b, "allow file-read*", "subpath", resolved(dir))
	}
	for _, key := range p.keys() {
		rule(&b, "deny file-read* file-write*", "subpath", resolved(key))
	}
	rule(&b, "deny file-read* file-write*", "subpath", filepath.Join(p.Home, "Library/Keychains"))
	for _, path := range []string{"/var/run/docker.sock", "/private/var/run/docker.sock"} {
		rule(&b, "deny network-outbound", "literal", path)
	}
	if p.Agent == "" {
		b.WriteString("(deny network-outbound (regex #\"^/private/tmp/com\\.apple\\.launchd\\.[^/]+/Listeners$\"))\n")
	}
	b.WriteString("(deny signal (target others))\n(deny process-info* (target others))\n(allow process-info* (target same-sandbox))\n(allow signal (target same-sandbox))\n")
	if !p.Network {
		b.WriteString("(deny network*)\n(allow network* (local ip \"localhost:*\"))\n(allow network* (remote ip \"localhost:*\"))\n(allow network* (remote unix-socket))\n")
	}
	return b.String()
}

// seatbeltWritable returns where a command may write.
func (p Profile) seatbeltWritable() []string {
	out := []string{p.TempDir}
	if p.CacheDir != "" {
		out = append(out, p.CacheDir)
	}
	if p.Mode == WorkspaceWrite {
		out = append(out, p.Roots...)
		for _, root := range p.Roots {
			out = append(out, protect(root).writable...)
		}
	}
	return out
}

func rule(b *strings.Builder, verb, kind, path string) {
	b.WriteString("(" + verb + " (" + kind + " \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + "\"))\n")
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// seatbeltStatus is the status of a system with or without sandbox-exec.
func seatbeltStatus(have bool) Status {
	if !have {
		return Status{Missing: "Commands are not confined: what is allowed can do all that you can, with your files and keys.",
			Abilities: []Ability{{Name: "sandbox-exec", Text: "sandbox-exec is missing: commands are not confined.",
				Advice: "It is part of macOS; look why " + "/usr/bin/sandbox-exec is not there."}}}
	}
	const network = "Not fully confined. With network = false a command can still reach services on this machine's loopback."
	return Status{Level: Partly, Missing: network,
		Abilities: []Ability{{Name: "sandbox-exec", Holds: true, Text: "Writes, keys and Scorel's own folder are held by macOS."}}}
}
