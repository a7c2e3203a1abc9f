package connect

import "testing"

func TestErrorsOfTheLibraryReachPeopleInPlainWords(t *testing.T) {
	for in, want := range map[string]string{
		`client is closing: sending "server/discover": unsupported content type "text/html"`:                            `its answer has the content type "text/html", which is none of MCP`,
		`calling "initialize": rejected by transport: sending "initialize": unsupported content type ""`:                `its answer has the content type "", which is none of MCP`,
		`calling "prompts/list": json: cannot unmarshal number into Go struct field Prompt.prompts.name of type string`: `its answer is not formed as MCP says: prompts.name has a value of the wrong kind, number`,
		`json: cannot unmarshal array into Go value of type mcp.ListToolsResult`:                                        `its answer is not formed as MCP says: there is a value of the wrong kind, array`,
		`calling "tools/call": the database is locked`:                                                                  `the database is locked`,
	} {
		if got := plainly(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
