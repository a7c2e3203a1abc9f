/**
 * QR codes of short texts (ISO/IEC 18004): bytes, level L, versions 1 to 10, which is up to 271
 * bytes. The mask is the one with the fewest faults. Nothing here draws.
 */

/** Codewords of data, and blocks with their error correction codewords, of level L by version. */
const versions: readonly { data: number; blocks: readonly number[]; ec: number; align: readonly number[] }[] = [
  { data: 19, blocks: [19], ec: 7, align: [] },
  { data: 34, blocks: [34], ec: 10, align: [6, 18] },
  { data: 55, blocks: [55], ec: 15, align: [6, 22] },
  { data: 80, blocks: [80], ec: 20, align: [6, 26] },
  { data: 108, blocks: [108], ec: 26, align: [6, 30] },
  { data: 136, blocks: [68, 68], ec: 18, align: [6, 34] },
  { data: 156, blocks: [78, 78], ec: 20, align: [6, 22, 38] },
  { data: 194, blocks: [97, 97], ec: 24, align: [6, 24, 42] },
  { data: 232, blocks: [116, 116], ec: 30, align: [6, 26, 46] },
  { data: 274, blocks: [68, 68, 69, 69], ec: 18, align: [6, 28, 50] },
];

const exp = new Uint8Array(512);
const log = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  exp[i] = exp[i + 255] = x;
  log[x] = i;
  x = x & 128 ? ((x << 1) ^ 0x11d) & 255 : x << 1;
}
const at = (list: ArrayLike<number>, i: number): number => list[i] ?? 0;
const times = (a: number, b: number): number => (a && b ? at(exp, at(log, a) + at(log, b)) : 0);

/** The error correction codewords of a block, by Reed and Solomon. */
export function correction(block: readonly number[], n: number): number[] {
  let generator = [1];
  for (let i = 0; i < n; i++) {
    const next = new Array<number>(generator.length + 1).fill(0);
    generator.forEach((c, j) => {
      next[j] = at(next, j) ^ c;
      next[j + 1] = at(next, j + 1) ^ times(c, at(exp, i));
    });
    generator = next;
  }
  const rest = [...block, ...new Array<number>(n).fill(0)];
  for (let i = 0; i < block.length; i++) {
    const lead = at(rest, i);
    if (lead)
      generator.forEach((c, j) => {
        rest[i + j] = at(rest, i + j) ^ times(c, lead);
      });
  }
  return rest.slice(block.length);
}

/** The rows of the code, true is dark; it throws for a text that is too long. With a mask, 0 to 7, that one is used. */
export function qrCode(text: string, only?: number): boolean[][] {
  const bytes = new TextEncoder().encode(text);
  const lengthBits = (v: number) => (v < 9 ? 8 : 16);
  const i = versions.findIndex((s, v) => bytes.length * 8 + 4 + lengthBits(v) <= s.data * 8);
  const spec = versions[i];
  if (!spec) throw new Error("the text is too long for a QR code");
  const words = interleaved(dataWords(bytes, spec.data, lengthBits(i)), spec.blocks, spec.ec);
  const size = 21 + 4 * i;
  const fixed = new Grid(size);
  drawFixed(fixed, i + 1, spec.align);
  let best: Grid | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let mask = 0; mask < masks.length; mask++) {
    if (only !== undefined && mask !== only) continue;
    const grid = fixed.copy();
    drawData(grid, fixed, words, mask);
    drawFormat(grid, mask);
    const faults = faultsOf(grid);
    if (faults < least) [best, least] = [grid, faults];
  }
  return (best ?? fixed).rows.map((r) => r.map((m) => m === true));
}

function dataWords(bytes: Uint8Array, n: number, lengthBits: number): number[] {
  const bits: number[] = [];
  const put = (value: number, width: number) => {
    for (let b = width - 1; b >= 0; b--) bits.push((value >> b) & 1);
  };
  put(4, 4); // bytes
  put(bytes.length, lengthBits);
  for (const b of bytes) put(b, 8);
  put(0, Math.min(4, n * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < n * 8; pad ^= 0xec ^ 0x11) put(pad, 8);
  return Array.from({ length: n }, (_, w) => bits.slice(w * 8, w * 8 + 8).reduce((v, b) => v * 2 + b, 0));
}

function interleaved(data: readonly number[], sizes: readonly number[], ec: number): number[] {
  let from = 0;
  const blocks = sizes.map((size) => {
    const block = data.slice(from, from + size);
    from += size;
    return { block, ec: correction(block, ec) };
  });
  const out: number[] = [];
  for (let i = 0; i < Math.max(...sizes); i++) for (const b of blocks) if (i < b.block.length) out.push(at(b.block, i));
  for (let i = 0; i < ec; i++) for (const b of blocks) out.push(at(b.ec, i));
  return out;
}

/** Modules by row and column; undefined is one that carries data. */
class Grid {
  readonly rows: (boolean | undefined)[][];
  constructor(readonly size: number) {
    this.rows = Array.from({ length: size }, () => new Array<boolean | undefined>(size).fill(undefined));
  }
  get(x: number, y: number): boolean | undefined {
    return this.rows[y]?.[x];
  }
  set(x: number, y: number, dark: boolean): void {
    const row = this.rows[y];
    if (row && x >= 0 && x < this.size) row[x] = dark;
  }
  copy(): Grid {
    const g = new Grid(this.size);
    g.rows.forEach((row, y) => {
      row.splice(0, this.size, ...(this.rows[y] ?? []));
    });
    return g;
  }
}

function drawFixed(g: Grid, version: number, align: readonly number[]): void {
  for (let i = 0; i < g.size; i++) {
    g.set(6, i, i % 2 === 0);
    g.set(i, 6, i % 2 === 0);
  }
  const last = g.size - 7;
  for (const [cx, cy] of [
    [3, 3],
    [last + 3, 3],
    [3, last + 3],
  ] as const)
    for (let y = -4; y <= 4; y++)
      for (let x = -4; x <= 4; x++) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        g.set(cx + x, cy + y, ring !== 2 && ring !== 4);
      }
  for (const cy of align)
    for (const cx of align) {
      const corner = (cx === 6 && (cy === 6 || cy === g.size - 7)) || (cy === 6 && cx === g.size - 7);
      if (corner) continue;
      for (let y = -2; y <= 2; y++) for (let x = -2; x <= 2; x++) g.set(cx + x, cy + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
    }
  drawFormat(g, 0); // keeps its place free of data
  if (version < 7) return;
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let i = 0; i < 18; i++) {
    const dark = ((bits >> i) & 1) === 1;
    const [a, b] = [g.size - 11 + (i % 3), Math.floor(i / 3)];
    g.set(a, b, dark);
    g.set(b, a, dark);
  }
}

function drawFormat(g: Grid, mask: number): void {
  const data = (1 << 3) | mask; // level L
  let rest = data;
  for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412;
  const bit = (i: number) => ((bits >> i) & 1) === 1;
  for (let i = 0; i < 15; i++) {
    if (i < 6) g.set(8, i, bit(i));
    else if (i < 8) g.set(8, i + 1, bit(i));
    else if (i === 8) g.set(7, 8, bit(i));
    else g.set(14 - i, 8, bit(i));
    if (i < 8) g.set(g.size - 1 - i, 8, bit(i));
    else g.set(8, g.size - 15 + i, bit(i));
  }
  g.set(8, g.size - 8, true);
}

const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function drawData(g: Grid, fixed: Grid, words: readonly number[], mask: number): void {
  let i = 0;
  for (let right = g.size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let n = 0; n < g.size; n++)
      for (let j = 0; j < 2; j++) {
        const x = right - j;
        const y = ((right + 1) & 2) === 0 ? g.size - 1 - n : n;
        if (fixed.get(x, y) !== undefined) continue;
        const bit = i < words.length * 8 && ((at(words, i >> 3) >> (7 - (i & 7))) & 1) === 1;
        g.set(x, y, bit !== (masks[mask]?.(x, y) ?? false));
        i++;
      }
  }
}

/** How hard a code is to read: runs, blocks, what looks like a finder, and too much of one colour. */
function faultsOf(g: Grid): number {
  let faults = 0;
  let dark = 0;
  const finder = [true, false, true, true, true, false, true];
  for (const across of [true, false])
    for (let a = 0; a < g.size; a++) {
      const line = Array.from({ length: g.size }, (_, b) => (across ? g.get(b, a) : g.get(a, b)) === true);
      let run = 0;
      line.forEach((m, b) => {
        run = b > 0 && m === line[b - 1] ? run + 1 : 1;
        if (run === 5) faults += 3;
        else if (run > 5) faults++;
        const light = (from: number) => [0, 1, 2, 3].every((k) => !(line[from + k] ?? false));
        if (finder.every((f, k) => line[b + k] === f) && (light(b - 4) || light(b + 7))) faults += 40;
        if (across && m) dark++;
      });
    }
  for (let y = 1; y < g.size; y++)
    for (let x = 1; x < g.size; x++) {
      const m = g.get(x, y);
      if (m === g.get(x - 1, y) && m === g.get(x, y - 1) && m === g.get(x - 1, y - 1)) faults += 3;
    }
  return faults + 10 * Math.floor(Math.abs((dark * 20) / (g.size * g.size) - 10));
}
