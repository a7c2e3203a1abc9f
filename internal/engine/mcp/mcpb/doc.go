// Package mcpb reads bundles of MCP servers (.mcpb, formerly .dxt): zip files with a
// manifest.json, as github.com/modelcontextprotocol/mcpb describes them.
//
// [Open] reads the manifest and looks at every name in the bundle; nothing is written
// before [Bundle.Unpack]. What is unpacked stays in the folder that was named: a bundle
// with links, with names that lead out of it, or with more than its bounds is refused as a
// whole. Nothing of a bundle is started here. A [Bundle] belongs to one goroutine.
package mcpb
