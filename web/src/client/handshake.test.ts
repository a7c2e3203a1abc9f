import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Challenge, Hello } from "../protocol/index";
import { parseAddress } from "./address";
import { base32, base64, byteLength, fromBase64, hex, tail, utf8 } from "./bytes";
import { equalProof, paired, proof, shared, splitCode, wrongChallenge, wrongHello } from "./handshake";
import { clientIDOf, deviceIDOf, newClientID, newRequestID, newSessionID } from "./ids";

const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");

/** The hello, the challenge and the client's proof of a block of docs/protocol.md. */
function documented(name: string): [Hello, Challenge, { proof: string }] {
  const block = page.split(`<!-- test: ${name} -->\n\`\`\`json\n`)[1]?.split("\n```")[0] ?? "";
  return block.split("\n").map((l) => JSON.parse(l)) as [Hello, Challenge, { proof: string }];
}

/** The X25519 key of 32 bytes that count up. */
function privateKey(from: number): Promise<CryptoKey> {
  const raw = Uint8Array.from({ length: 32 }, (_, i) => from + i);
  const pkcs8 = new Uint8Array([...fromBase64("MC4CAQAwBQYDK2VuBCIEIA=="), ...raw]);
  return crypto.subtle.importKey("pkcs8", pkcs8, { name: "X25519" }, false, ["deriveBits"]);
}

describe("the proofs", () => {
  test("of a token are the documented ones", async () => {
    const [hello, challenge, connect] = documented("token");
    const said = { address: "unix:/home/me/.scorel/host.sock", hello, challenge };
    const token = utf8("Zm9yIHRlc3RzIG9ubHksIDMyIGJ5dGVzIGxvbmcuLi4");
    expect(await wrongHello(hello)).toBe("");
    expect(await wrongChallenge(hello, challenge, "")).toBe("");
    expect(equalProof(await proof(token, "host", said), challenge.proof)).toBe(true);
    expect(base64(await proof(token, "client", said))).toBe(connect.proof);
    expect(equalProof(await proof(token, "client", said), challenge.proof)).toBe(false);
  });

  test("of keys are the documented ones", async () => {
    const [hello, challenge, connect] = documented("keys");
    const said = { address: "tls:desk.example:4444", hello, challenge };
    const ofHost = await shared(await privateKey(0x60), fromBase64(challenge.publicKey ?? ""));
    const mine = await shared(await privateKey(0x40), fromBase64(challenge.ephemeral ?? ""));
    expect(page).toContain(`\`${base64(ofHost)}\``);
    expect(page).toContain(`\`${base64(mine)}\``);
    expect(await wrongHello(hello)).toBe("");
    expect(await wrongChallenge(hello, challenge, challenge.deviceId)).toBe("");
    expect(equalProof(await proof(ofHost, "host", said), challenge.proof)).toBe(true);
    expect(base64(await proof(mine, "client", said))).toBe(connect.proof);
    expect(await clientIDOf(fromBase64(hello.publicKey ?? ""))).toBe(hello.clientId);
    expect(await deviceIDOf(fromBase64(challenge.publicKey ?? ""))).toBe(challenge.deviceId);
  });

  test("of a code are the documented ones", async () => {
    const [hello, challenge, connect] = documented("pairing");
    const code = splitCode("0123456789abcdefghijklmnopqrstuv0123456780");
    expect(code?.pairing).toBe(hello.pairing);
    const secret = code?.secret ?? "";
    const said = { address: "tls:desk.example:4444", hello, challenge };
    const ofHost = await paired(secret, await shared(await privateKey(0x60), fromBase64(challenge.publicKey ?? "")));
    const mine = await paired(secret, await shared(await privateKey(0x40), fromBase64(challenge.ephemeral ?? "")));
    expect(equalProof(await proof(ofHost, "host", said), challenge.proof)).toBe(true);
    expect(base64(await proof(mine, "client", said))).toBe(connect.proof);
    for (const wrong of ["", "par_0123456789abcdef", "0123456789abcdefghijklmnopqrstuv012345678z"])
      expect(splitCode(wrong)).toBeUndefined();
  });

  test("are not made with a key of low order", async () => {
    await expect(shared(await privateKey(0x40), new Uint8Array(32))).rejects.toThrow();
  });

  test.each([
    ["another device", { deviceId: "dev_x" }, /not dev_/],
    ["a nonce that is short", { nonce: "AAAA" }, /nonce/],
    ["a nonce that is no base64", { nonce: "!" }, /nonce/],
    ["a key of another device", { publicKey: base64(new Uint8Array(32)) }, /deviceId/],
    ["no key", { publicKey: undefined }, /key/],
  ])("are not made for a challenge with %s", async (_, change, why) => {
    const [hello, challenge] = documented("keys");
    expect(await wrongChallenge(hello, { ...challenge, ...change } as Challenge, challenge.deviceId)).toMatch(why);
  });

  test("are not made for a client that cannot introduce itself", async () => {
    const [hello] = documented("keys");
    expect(await wrongHello({ ...hello, clientName: "ä".repeat(65) })).toMatch(/128 bytes/);
    expect(await wrongHello({ ...hello, clientId: "me" as Hello["clientId"] })).toMatch(/clientId/);
    expect(await wrongHello({ ...hello, clientId: newClientID() })).toMatch(/key/);
  });
});

describe("the address of a host", () => {
  test.each([
    ["ws://127.0.0.1:4444", "ws://127.0.0.1:4444/v1/ws", "127.0.0.1:4444"],
    ["http://localhost:4444/", "ws://127.0.0.1:4444/v1/ws", "127.0.0.1:4444"],
    ["ws://[::1]:4444/v1/ws", "ws://[::1]:4444/v1/ws", "[::1]:4444"],
    ["https://Desk.Example", "wss://desk.example/v1/ws", "tls:desk.example:443"],
    ["wss://desk.example:4444/scorel/", "wss://desk.example:4444/scorel/v1/ws", "tls:desk.example:4444"],
  ])("%s", (text, url, proved) => expect(parseAddress(text, "")).toEqual({ url, proved }));

  test("of the page itself keeps its name", () => {
    expect(parseAddress("http://localhost:4444", "localhost:4444").proved).toBe("localhost:4444");
  });

  test.each([
    ["ws://desk.example:4444", /without encryption/],
    ["wss://me:secret@desk.example", /nothing secret/],
    ["wss://desk.example/?token=x", /nothing secret/],
    ["unix:/tmp/host.sock", /begins with/],
    ["desk", /cannot be read/],
  ])("%s is none", (text, why) => expect(() => parseAddress(text, "")).toThrow(why));
});

describe("bytes and ids", () => {
  test("ids have the form of the protocol, and those of sessions sort by time", () => {
    expect(newRequestID()).toMatch(/^req_[0-9a-v]{25}[0-9a-v]$/);
    expect(newClientID()).toMatch(/^cli_[0-9a-v]{26}$/);
    expect(newSessionID(1) < newSessionID(2)).toBe(true);
    expect(newSessionID(0, (n) => new Uint8Array(n))).toBe(`ses_${"0".repeat(26)}`);
  });

  test("bytes have their usual forms", () => {
    expect(base32(utf8("foobar"))).toBe("cpnmuoj1e8");
    expect(hex(utf8("aü"))).toBe("61c3bc");
    expect(fromBase64(base64(new Uint8Array(100_000).fill(200))).length).toBe(100_000);
    for (const text of ["", "a", "ä", "€", "📄", "a📄ä€", "\ud800", "\ud800a"]) expect(byteLength(text)).toBe(utf8(text).length);
  });

  test("the end of a text begins with a whole character", () => {
    const text = "a📄€äb".repeat(9);
    for (let max = 0; max < 120; max++) {
      const end = tail(text, max);
      expect(text.endsWith(end) && utf8(end).length <= max && !/\p{Surrogate}/u.test(end)).toBe(true);
      expect(utf8(end).length).toBeGreaterThan(Math.min(max, utf8(text).length) - 4);
    }
  });
});
