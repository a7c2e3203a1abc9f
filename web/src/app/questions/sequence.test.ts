import { expect, test } from "vitest";
import { pasted, sequence } from "./sequence";

test("keys are sent as a terminal sends them", () => {
  const cases: [Parameters<typeof sequence>[0], string][] = [
    [{ key: "Enter" }, "\r"],
    [{ key: "Escape" }, "\x1b"],
    [{ key: "Tab", shiftKey: true }, "\x1b[Z"],
    [{ key: "Enter", shiftKey: true }, "\x1b[13;2u"],
    [{ key: "Enter", altKey: true }, "\x1b\r"],
    [{ key: "Backspace" }, "\x7f"],
    [{ key: "ArrowUp" }, "\x1b[A"],
    [{ key: "ArrowLeft", ctrlKey: true }, "\x1b[1;5D"],
    [{ key: "ArrowDown", shiftKey: true, altKey: true }, "\x1b[1;4B"],
    [{ key: "Home" }, "\x1b[H"],
    [{ key: "PageDown" }, "\x1b[6~"],
    [{ key: "Delete", ctrlKey: true }, "\x1b[3;5~"],
    [{ key: "F2" }, "\x1bOQ"],
    [{ key: "F12" }, "\x1b[24~"],
    [{ key: "c", ctrlKey: true }, "\x03"],
    [{ key: "[", ctrlKey: true }, "\x1b"],
    [{ key: " ", ctrlKey: true }, "\0"],
    [{ key: "P", ctrlKey: true, shiftKey: true }, "\x1b[112;6u"],
    [{ key: "k", altKey: true }, "\x1bk"],
    // Typed characters come as text, and others belong to the browser.
    [{ key: "x" }, ""],
    [{ key: "X", shiftKey: true }, ""],
    [{ key: "é" }, ""],
    [{ key: "€", ctrlKey: true, altKey: true }, ""],
    [{ key: "Dead" }, ""],
    [{ key: "Shift", shiftKey: true }, ""],
    [{ key: "r", metaKey: true }, ""],
  ];
  for (const [key, want] of cases) expect(sequence(key), JSON.stringify(key)).toBe(want);
});

test("a paste cannot end itself", () => {
  expect(pasted("a\x1b[201~b\nc")).toBe("\x1b[200~ab\nc\x1b[201~");
});
