/** The palette: finds sessions and does what the page can do, from the keyboard. */
const opens = new Set<() => void>();

/** Opens the palette. */
export function openPalette(): void {
  for (const open of opens) open();
}

export function Palette() {
  return null;
}
