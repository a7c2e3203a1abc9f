/** The text of a model. The words of models and tools are never markup of the page. */
export function Markdown({ text }: { text: string; streaming?: boolean }) {
  return <div className="prose">{text}</div>;
}
