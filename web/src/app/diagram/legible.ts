/**
 * Texts may give a box a colour of their own, such as a pink that was chosen for dark letters. The
 * letters on it are drawn black or white when those of the theme cannot be read there.
 */

const enough = 4.5;

/** Gives text that cannot be read on its box another colour. The drawing has to be in a document. */
export function legible(svg: SVGSVGElement): void {
  for (const node of svg.querySelectorAll(".node, .cluster")) {
    const shape = node.querySelector(
      ":scope > :is(rect, polygon, circle, ellipse, path), :scope > g > :is(rect, polygon, circle, ellipse, path)",
    );
    const fill = shape && rgb(getComputedStyle(shape).fill);
    if (!fill) continue;
    for (const text of node.querySelectorAll<SVGElement>("text, tspan")) {
      const ink = rgb(getComputedStyle(text).fill);
      if (!ink || contrast(ink, fill) >= enough) continue;
      const black = contrast([0, 0, 0], fill) >= contrast([255, 255, 255], fill);
      text.style.setProperty("fill", black ? "#000000" : "#ffffff", "important");
    }
  }
}

type Rgb = readonly [number, number, number];

/** A colour that covers what is below it; undefined of others. */
function rgb(colour: string): Rgb | undefined {
  const m = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour);
  if (!m || (m[4] !== undefined && Number(m[4]) < 0.5)) return undefined;
  return [Number(m[1]), Number(m[2]), Number(m[3])];
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** As WCAG 2.2 defines it. */
function luminance(colour: Rgb): number {
  const [r = 0, g = 0, b = 0] = colour.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
