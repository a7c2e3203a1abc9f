import { expect, test } from "vitest";
import { lettersIn, mentionOf, rank, tokenAt, typedOf } from "./typed";

test("the first characters of a text say what it becomes", () => {
  expect(typedOf("hello\nthere ")).toEqual({ kind: "message", text: "hello\nthere" });
  expect(typedOf("!go test ./...")).toEqual({ kind: "shell", command: "go test ./...", inContext: true });
  expect(typedOf("!! ls")).toEqual({ kind: "shell", command: "ls", inContext: false });
  expect(typedOf("/review main.go  races")).toEqual({ kind: "command", name: "review", args: "main.go  races" });
  expect(typedOf("/review main.go\nand b.go\n")).toEqual({ kind: "command", name: "review", args: "main.go\nand b.go" });
  expect(typedOf("/git:commit")).toEqual({ kind: "command", name: "git:commit", args: "" });
  expect(typedOf("/部署")).toEqual({ kind: "command", name: "部署", args: "" });
  expect(typedOf("/")).toEqual({ kind: "command", name: "", args: "" });
  expect(typedOf("/usr/bin is full")).toEqual({ kind: "message", text: "/usr/bin is full" });
  expect(typedOf("/1 is no command")).toEqual({ kind: "message", text: "/1 is no command" });
  expect(typedOf(" /review")).toEqual({ kind: "message", text: "/review" });
  expect(typedOf("//review is a command")).toEqual({ kind: "message", text: "/review is a command" });
  expect(typedOf("# use tabs")).toEqual({ kind: "note", scope: "project", text: "use tabs" });
  expect(typedOf("## use tabs\n")).toEqual({ kind: "note", scope: "user", text: "use tabs" });
  expect(typedOf("#")).toEqual({ kind: "note", scope: "project", text: "" });
  expect(typedOf("# Plan\n\nfirst")).toEqual({ kind: "message", text: "# Plan\n\nfirst" });
  expect(typedOf("#12 is open")).toEqual({ kind: "message", text: "#12 is open" });
  expect(typedOf("\\!important")).toEqual({ kind: "message", text: "!important" });
  expect(typedOf("\\# a title")).toEqual({ kind: "message", text: "# a title" });
  expect(typedOf("\\#define X")).toEqual({ kind: "message", text: "\\#define X" });
});

test("what is typed at the cursor is found", () => {
  expect(tokenAt("/re")).toEqual({ kind: "command", start: 0, query: "re" });
  expect(tokenAt("/model son")).toEqual({ kind: "argument", start: 7, query: "son", name: "model" });
  expect(tokenAt("look at @int/ne")).toEqual({ kind: "file", start: 8, query: "int/ne" });
  expect(tokenAt('look\n@"my no')).toEqual({ kind: "file", start: 5, query: "my no" });
  expect(tokenAt('see "@ma" @ma')).toEqual({ kind: "file", start: 10, query: "ma" });
  expect(tokenAt("/review @main")).toEqual({ kind: "file", start: 8, query: "main" });
  for (const nothing of ["", "plain text", "ada@example.com", "(@ma", "@a.go and", '@"a b" ', "/usr/bi", "x /re", "//re", "!cat @a"])
    expect(tokenAt(nothing), nothing).toBeUndefined();
});

test("a path that a sentence would end is quoted", () => {
  expect(mentionOf("a/b.go")).toBe("@a/b.go");
  expect(mentionOf("my notes.txt")).toBe('@"my notes.txt"');
  expect(mentionOf("so?")).toBe('@"so?"');
});

test("names that begin with what is typed come first", () => {
  expect(["review", "git:review", "rewind", "memory", "model"].map((n) => rank(n, "re"))).toEqual([1, 2, 1, undefined, undefined]);
  expect(rank("model", "ml")).toBe(3);
  expect(rank("model", "model")).toBe(0);
});

test("the letters of a query are looked for in their order", () => {
  expect(lettersIn("internal/host/conn.go", "host con")).toBe(true);
  expect(lettersIn("internal/host/conn.go", "gohost")).toBe(false);
});
