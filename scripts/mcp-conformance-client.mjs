// The client part of the MCP conformance suite runs this with the address of a server: it does
// with it what a person would, with "scorel mcp test", "scorel mcp login" and "scorel -p", whose
// model is a script. SCOREL_PROGRAM is the program.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const scorel = process.env.SCOREL_PROGRAM;
const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const home = mkdtempSync(join(tmpdir(), "scorel-cc"));
const environ = { ...process.env, HOME: home };

// run runs the program to its end.
function run(args, more = {}) {
	return new Promise((resolve) => {
		const child = execFile(scorel, args, { cwd: join(home, "project"), env: { ...environ, ...more } }, (error, stdout, stderr) => {
			process.stderr.write(`$ scorel ${args.join(" ")}\n${stdout}${stderr}`);
			resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr });
		});
		child.stdin.end(); // it is read to its end
	});
}

// signIn signs in as a person who agrees in the browser.
function signIn() {
	return new Promise((resolve) => {
		const args = ["mcp", "login", "suite"];
		if (context.client_secret) args.push("--client-secret");
		const child = spawn(scorel, args, { cwd: join(home, "project"), env: { ...environ, MCP_CLIENT_SECRET: context.client_secret ?? "" }, stdio: ["pipe", "inherit", "pipe"] });
		let said = "", visited = false;
		child.stderr.on("data", (data) => {
			process.stderr.write(data);
			said += data;
			const found = /\n(https?:\/\/\S+)\n/.exec(said);
			if (!found || visited) return;
			visited = true;
			fetch(found[1]).catch(() => child.kill()); // it is led back to the program
		});
		child.once("exit", resolve);
	});
}

// inputs returns what tools are called with where that matters.
function inputs(own) {
	const given = (context.toolCalls ?? []).filter((call) => call.name === own);
	if (given.length > 0) return given.map((call) => call.arguments);
	if (own === "add_numbers") return [{ a: 5, b: 3 }];
	if (own === "valid_tool") return [{ region: "us" }];
	return [{}];
}

// use calls each tool of the server in one session, whose person sends each form as it is. A
// null breaks the schema of the tool, so it is left out.
function use(tools) {
	const calls = tools.flatMap((tool) => inputs(tool.own).map((input) => ({ call: tool.name, input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) })));
	if (calls.length === 0) return { code: 0, said: "" };
	const lines = [{ script: 1 }, { do: calls }, { again: true, do: [{ text: "done" }] }];
	writeFileSync(join(home, "script.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
	const args = ["-p", "--model", `script:${home}/script.jsonl`, "--allowed-tools", "mcp__suite", "--input-format", "stream-json", "--output-format", "stream-json", "go"];
	return new Promise((resolve) => {
		const child = spawn(scorel, args, { cwd: join(home, "project"), env: environ, stdio: ["pipe", "pipe", "inherit"] });
		let said = "";
		createInterface({ input: child.stdout }).on("line", (line) => {
			said += line + "\n";
			const event = JSON.parse(line);
			if (event.type === "ui_request") child.stdin.write(JSON.stringify({ type: "answer_ui", uiId: event.uiId, value: {} }) + "\n");
			if (event.type === "runtime_end") child.stdin.end();
		});
		child.once("exit", (code) => {
			process.stderr.write(`$ scorel ${args.join(" ")}\n${said}`);
			resolve({ code, said });
		});
	});
}

let code = 1;
try {
	mkdirSync(join(home, ".scorel"), { recursive: true, mode: 0o700 });
	mkdirSync(join(home, "project"));
	const entry = { type: "http", url, alwaysLoad: true };
	if (scenario.startsWith("auth/")) entry.oauth = { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
	if (context.client_id) entry.oauth = { clientId: context.client_id };
	writeFileSync(join(home, ".scorel", "mcp.json"), JSON.stringify({ mcpServers: { suite: entry } }));
	for (let tries = 0; tries < 3; tries++) {
		const tested = await run(["mcp", "test", "suite", "--json"]);
		const found = JSON.parse(tested.stdout);
		let again = /needs a sign-in|mcp login/.test(found.problem ?? "");
		if (!again && found.ok) {
			const used = await use(found.tools);
			code = used.code;
			again = /mcp login/.test(used.said);
		}
		if (!again) break;
		if ((await signIn()) !== 0) break;
	}
} finally {
	await run(["host", "stop", "--now"]);
	rmSync(home, { recursive: true, force: true });
}
process.exit(code);
