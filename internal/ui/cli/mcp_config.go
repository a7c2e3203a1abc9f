package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"scorel/internal/engine/config"
	"scorel/internal/host"
	"strings"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host/mcpservers"
	"scorel/internal/ui/exit"
	"scorel/protocol"
	"scorel/protocol/display"
)

// readMCPConfigs returns the texts of --mcp-config, each a file or JSON itself. What is in
// them may be secret and is in no error.
func readMCPConfigs(given []string) (texts []string, err error) {
	if len(given) > protocol.MaxMCPConfigs {
		return nil, exit.Usagef("--mcp-config can be given %d times; put the servers into one file", protocol.MaxMCPConfigs)
	}
	for _, g := range given {
		text := g
		if !strings.HasPrefix(strings.TrimSpace(g), "{") {
			if text, err = readMCPConfig(g); err != nil {
				return nil, err
			}
		}
		if len(text) > protocol.MaxMCPConfig {
			return nil, exit.Usagef("--mcp-config has more than 1 MiB")
		}
		texts = append(texts, text)
	}
	set := mcp.Merge(mcp.Sources{Session: mcpservers.SessionFiles(texts)})
	for _, f := range set.Faults {
		if f.Dropped && f.Code != mcp.CodeNotSwitchedOn { // only the host knows all servers
			return nil, exit.AsUsage(f)
		}
	}
	return texts, nil
}

// refuseReserved fails where a server in the user's own files has a name that is reserved: a
// host and a run do not start then. A running host only leaves the server out, and says so.
func (a *app) refuseReserved() error {
	home, err := host.UserHome(a.environ)
	if err != nil {
		return err
	}
	dir := filepath.Join(home, ".scorel")
	faults := mcp.ReservedNames(mcp.ReadFile(mcp.UserFile(dir)))
	if user, err := config.Read(filepath.Join(dir, "config.toml")); err == nil { // what is wrong with it is named where it is used
		if c, _, err := config.Parse(user, config.File{}, nil); err == nil {
			faults = append(faults, c.MCP.Faults...)
		}
	}
	for _, f := range faults {
		if f.Code == mcp.CodeReservedName {
			return fmt.Errorf("%w; rename or remove it", f)
		}
	}
	return nil
}

func readMCPConfig(name string) (string, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", exit.Usagef("--mcp-config %s: there is no such file; JSON begins with {", display.Line(name))
	}
	if err != nil {
		return "", exit.AsUsage(fmt.Errorf("--mcp-config: %w", err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, protocol.MaxMCPConfig+1))
	if err != nil {
		return "", exit.AsUsage(fmt.Errorf("--mcp-config: %w", err))
	}
	return string(data), nil
}
