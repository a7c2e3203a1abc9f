/** Texts of diagrams that want to run or load something, or to keep the page busy. */

const far = "https://hostile.example";
const act = "parent.postMessage({ready:true},'*');top.hacked=1;alert(1)";

function init(config: object, text = "graph TD\n A-->B"): string {
  return `%%{init: ${JSON.stringify(config)}}%%\n${text}`;
}

const loose = { securityLevel: "loose", secure: [], htmlLabels: true, flowchart: { htmlLabels: true } };
const labels = [
  `<script>${act}</script>`,
  `<img src=x onerror="${act}">`,
  `<img src='${far}/a.png'>`,
  `<svg onload="${act}"></svg>`,
  `<foreignObject><iframe src="${far}/b"></iframe></foreignObject>`,
  `<iframe srcdoc="<script>${act}</script>"></iframe>`,
  `<a href="javascript:${act}">click</a>`,
  `<style>@import url(${far}/c.css);</style>`,
  `<object data="${far}/d"></object><embed src="${far}/e">`,
  `<meta http-equiv=refresh content="0;url=${far}/f">`,
  `<base href="${far}/">`,
  `<form action="${far}/g"><input autofocus onfocus="${act}"></form>`,
  `<math><mtext><img src=x onerror="${act}"></mtext></math>`,
  `$$\\href{javascript:${act}}{x}$$`,
  `fa:fa-bomb \u202e \u0000 ${"e\u0301\u0301".repeat(200)}`,
];

const kinds: readonly ((label: string) => string)[] = [
  (l) => `graph TD\n A["${l.replaceAll('"', "'")}"] -->|"${l.replaceAll('"', "'")}"| B`,
  (l) => `sequenceDiagram\n participant A as ${l}\n A->>B: ${l}\n Note over A: ${l}`,
  (l) => `classDiagram\n class A["${l.replaceAll('"', "'")}"]\n A : ${l}`,
  (l) => `mindmap\n  root(("${l.replaceAll('"', "'")}"))`,
  (l) => init(loose, `graph TD\n A["${l.replaceAll('"', "'")}"] --> B`),
  (l) =>
    `---\ntitle: ${JSON.stringify(l)}\nconfig:\n  securityLevel: loose\n  htmlLabels: true\n---\ngraph TD\n A["${l.replaceAll('"', "'")}"]`,
];

/** What is drawn, or not understood. */
export const hostileDiagrams: readonly string[] = [
  ...labels.flatMap((l) => kinds.map((of) => of(l))),
  `graph TD\n A-->B\n click A "javascript:${act}"\n click B call alert("x")`,
  `graph TD\n A-->B\n click A href "${far}/click" _top`,
  init(loose, `graph TD\n A-->B\n click A call alert("x")`),
  `graph TD\n A@{ img: "${far}/h.png", label: "x", h: 60 }`,
  `graph TD\n A@{ icon: "far:x", form: "square" }`,
  `graph TD\n A-->B\n style A fill:url(${far}/i.svg#x),background:url(${far}/j.png)`,
  `graph TD\n A-->B\n classDef x fill:red;}</style><script>${act}</script>\n class A x`,
  `graph TD\n A-->B\n linkStyle 0 stroke:url(${far}/k)`,
  init({ themeCSS: `@import url(${far}/l.css); * { background: url(${far}/m.png) }` }),
  init({ theme: "dark", themeVariables: { primaryColor: `red;}@import url(${far}/n);` } }),
  init({ fontFamily: `x;} @font-face { font-family: y; src: url(${far}/o.woff2) } * { font-family: y` }),
  init({ dompurifyConfig: { ADD_TAGS: ["script", "iframe"], ADD_ATTR: ["onerror", "onload"] }, ...loose }),
  init({ __proto__: null, constructor: { prototype: { hacked: 1 } } }),
  '%%{init: {"__proto__": {"hacked": 1}, "constructor": {"prototype": {"hacked": 1}}}}%%\ngraph TD\n __proto__-->constructor\n constructor-->toString',
  "classDiagram\n class __proto__\n class constructor\n __proto__ <|-- constructor",
  `sequenceDiagram\n participant A\n links A: {"x": "javascript:${act}", "y": "${far}/p"}\n A->>A: x`,
  `C4Context\n Person(a, "x", "y", $link="javascript:${act}", $sprite="${far}/q.png")`,
  `gantt\n dateFormat YYYY-MM-DD\n A :a, 2026-01-01, 1d\n click a href "javascript:${act}"`,
  `architecture-beta\n service db(far:x)[Database]`,
  "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ntitle: *d\n---\ngraph TD\n A-->B",
  'pie\n "a" : 1e308\n "b" : 1e308',
  "graph",
  "",
  "\u0000",
  "graph TD\n".repeat(100),
];

/** What takes long, or would have no end: it is drawn, refused or stopped in time. */
export const slowDiagrams: readonly string[] = [
  `graph TD\n${"A-->B\n".repeat(60_000)}`,
  `graph TD\n A["${"x".repeat(1 << 20)}"]`,
  `graph TD\n A["${"x ".repeat(4_000)}"]`,
  `graph TD\n${Array.from({ length: 490 }, (_, i) => `n${i % 32}-->m${(i * 7) % 31}`).join("\n")}`,
  `graph TD\n${Array.from({ length: 100 }, (_, i) => `subgraph s${i}`).join("\n")}\nA-->B\n${"end\n".repeat(100)}`,
  `gantt\n dateFormat YYYY-MM-DD\n excludes monday,tuesday,wednesday,thursday,friday,saturday,sunday\n A :a, 2026-01-01, 10d`,
  "gantt\n dateFormat YYYY-MM-DD\n tickInterval 1millisecond\n A :a, 1900-01-01, 2100-01-01",
  `sequenceDiagram\n${"A->>B: x\n".repeat(4000)}`,
  `mindmap\n  root\n${Array.from({ length: 2000 }, (_, i) => `    n${i}`).join("\n")}`,
  "block-beta\n columns 999999999\n a b c:999999999",
  'packet-beta\n 0-99999999: "x"',
  `xychart-beta\n bar [${Array.from({ length: 1000 }, (_, i) => i).join(",")}]`,
  `quadrantChart\n${Array.from({ length: 500 }, (_, i) => `p${i}: [0.${i}, 0.5]`).join("\n")}`,
];
