/** A text file that was attached to a message, as people read it. */
export interface AttachedFile {
  path: string;
  lines: number;
  text: string;
}

/** What a text is that is the frame of an attached file; undefined for any other. The host's own is FileOf in protocol/framed. */
export function fileOf(text: string): AttachedFile | undefined {
  const [, quoted = "", inside = ""] = /^<file path=("(?:[^"\\\n]|\\.)*")>\n([^]*)\n<\/file>$/.exec(text) ?? [];
  if (quoted === "") return undefined;
  try {
    const content = inside.endsWith("\n") ? inside.slice(0, -1) : inside;
    return { path: JSON.parse(quoted) as string, lines: content === "" ? 0 : content.split("\n").length, text: content };
  } catch {
    return undefined; // Go writes some characters otherwise: such a file is shown whole
  }
}
