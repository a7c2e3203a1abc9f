import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { qrCode } from "./qr";

/** Codes of rsc.io/qr, which draws those in the terminal, always with the first mask: bytes, modules a side, SHA-256 of the modules. */
const drawn: [number, number, string][] = [
  [10, 21, "0747f8e47be67123403be232c36e2a83045c8bee449c2082ab5fad2aca140356"],
  [30, 25, "133418e0e0e8c8f63c77933621d86193d94a4458b56304e25f8c13dbec2eabe5"],
  [70, 33, "a041a05ab01dcda2f574869d383310bc2940d3f967b3b779de2da2bc0179224f"],
  [100, 37, "9b8c34dc97ca93cebfe7653c643f45bdee4b9e43c33570a18e94a4162a43c3e2"],
  [130, 41, "1421e762ac1df6c1cba4a274a062afdebe3324cebeb5ae359b3327d3f7f098aa"],
  [150, 45, "36b3d5896218b853b585d0a4bde023952c24dbcbc01393d2967231b5652be314"],
  [190, 49, "bf880f73e7584c153358485f404a1d7b5b3ee3922bad40d439d2f5e580a0dbc0"],
  [220, 53, "62cf0099462438c4ced48da001be532b273f34b96c8fc42410a1ece7e0662c6d"],
  [260, 57, "3dd5db639203df3d7fa7eed0f28e298723e0c1249e9ab5fc94ac8219a93c0e87"],
];

test("codes are module for module those of the terminal, in every version", () => {
  for (const [bytes, size, sum] of drawn) {
    const rows = qrCode(`https://${"a.b/c#pair=".repeat(30)}`.slice(0, bytes), 0);
    expect(rows.length).toBe(size);
    const modules = rows.flat().map(Number).join("");
    expect(createHash("sha256").update(modules).digest("hex"), `${bytes} bytes`).toBe(sum);
  }
});

test("a text that no code has room for is refused", () => {
  expect(() => qrCode("a".repeat(300))).toThrow("too long");
});
