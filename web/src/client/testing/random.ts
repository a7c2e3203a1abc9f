/** Random numbers that are the same for the same seed. */
export class Seeded {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to n, without n. */
  below(n: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  }

  chance(p: number): boolean {
    return this.below(1_000_000) < p * 1_000_000;
  }
}

/** Waits until something holds, at most two minutes. tell is what is wrong when it does not. */
export async function until(holds: () => boolean, tell: () => string): Promise<void> {
  const end = Date.now() + 120_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`in vain after two minutes: ${tell()}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
}
