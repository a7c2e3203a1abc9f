/** An MCP server over HTTP that wants a sign-in, with the sign-in server beside it, for tests. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class SignInServer {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<SignInServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const s = new SignInServer(server);
    server.on("request", (req, res) => {
      void bodyOf(req).then((body) => {
        const [status, headers, data] = s.answer(req, body);
        res.writeHead(status, { "Content-Type": "application/json", ...headers });
        res.end(data === undefined ? "" : JSON.stringify(data));
      });
    });
    return s;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(req: IncomingMessage, body: string): [number, Record<string, string>, unknown?] {
    const { base } = this;
    const url = new URL(req.url ?? "/", base);
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
      return [200, {}, { resource: `${base}/mcp`, authorization_servers: [base] }];
    if (url.pathname.startsWith("/.well-known/"))
      return [
        200,
        {},
        {
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
        },
      ];
    switch (url.pathname) {
      case "/register":
        return [201, {}, { ...JSON.parse(body), client_id: "scorel" }];
      case "/authorize": {
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", "code");
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        return [302, { Location: back.href }];
      }
      case "/token":
        return [200, {}, { access_token: "token", token_type: "Bearer", expires_in: 3600 }];
      case "/mcp":
        if (!req.headers.authorization) {
          return [401, { "WWW-Authenticate": `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"` }];
        }
        return req.method === "POST" ? answerMCP(body) : [405, {}];
    }
    return [404, {}];
  }
}

function answerMCP(body: string): [number, Record<string, string>, unknown?] {
  const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { protocolVersion?: string } };
  if (id === undefined) return [202, {}];
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "kept", version: "1" } },
    "tools/list": { tools: [{ name: "look", description: "Looks", inputSchema: { type: "object" } }] },
    ping: {},
  };
  const result = results[method];
  return [200, {}, result ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }];
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of req) text += part;
  return text;
}
