/** What the page and the frame that draws diagrams say to each other. */

/** The looks of a diagram: colours of tokens.css by their names without the dashes, and the fonts. */
export interface Look {
  dark: boolean;
  font: string;
  colours: Readonly<Record<string, string>>;
  /** The width that a diagram which fills a line is drawn for, in pixels. */
  width: number;
}

/** What is asked of the frame; it draws one at a time, in the order in which they come. */
export interface Order {
  id: number;
  text: string;
  look: Look;
}

/** A diagram as an image: it stands alone, and names nothing that would have to be loaded. */
export interface Picture {
  svg: string;
  width: number;
  height: number;
  /** The kind by the name that mermaid has for it. */
  kind: string;
  /** What the text itself calls the diagram. */
  title: string;
}

/** What the frame says: that it can draw, what it has drawn, or in which line it did not understand the text (0: it does not know). */
export type Said = { ready: true } | ({ id: number } & (Picture | { line: number }));
