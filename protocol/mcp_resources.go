package protocol

// Requests about the resources of MCP servers.
type (
	// ListMCPResources returns the resources of the session's MCP servers that Query is
	// part of, in any case, for completion: those of servers that are connected. A message
	// names one as @server:uri, and the host reads it as the message is taken in. Limit is
	// at most 100, which is also what 0 means; the answer is an [MCPResourceList].
	ListMCPResources struct {
		Query string `json:"query,omitempty" check:"max=MaxQuery"`
		Limit int    `json:"limit,omitempty" check:"min=0"`
	}
)

// What they are answered with.
type (
	// MCPResourceList is resources, by server.
	MCPResourceList struct {
		Resources []MCPResource `json:"resources"`
	}
	// MCPResource is a resource of an MCP server. Its texts are those of the server.
	MCPResource struct {
		Server      string `json:"server"` // as it is configured
		URI         string `json:"uri"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		MediaType   string `json:"mediaType,omitempty"`
	}
)

var listMCPResourcesSpec = Spec{
	Name: "list_mcp_resources", Scope: ScopeSession, Grant: GrantControl,
	New: func() Request { return new(ListMCPResources) }, Reply: func() Response { return new(MCPResourceList) },
}
