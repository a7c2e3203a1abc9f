import type { Random } from "./bytes";

/** Waits between two tries to connect, as docs/protocol.md has them: a random part of a window that doubles. */
export const firstWaitMs = 250;
export const longWaitMs = 15_000;

/** How many tries in a row wait for the shortest time when the host has said that another takes over at once. */
export const fastRetries = 16;

/** The longest wait before a try that so many failed before. */
export function waitWindow(failed: number): number {
  return Math.min(firstWaitMs * 2 ** Math.min(failed, 16), longWaitMs);
}

/** Draws a wait between 0 and ms. */
export function jitter(random: Random, ms: number): number {
  const [a = 0, b = 0, c = 0] = random(3);
  return Math.floor(((a << 16) | (b << 8) | c) % (ms + 1));
}
