/** Texts for the page of components. */
export const prose = `# Why 9 March was skipped

**Found it.** \`Next\` adds 24 hours to the last run. On 9 March that day has *23 hours* in Chicago, so 02:30 becomes 03:30, and ~~the guard~~ the check below takes it for a run that has already happened. See [the time zone database](https://www.iana.org/time-zones), https://go.dev/doc or [bank.example](https://other.example/x).

## What changes

- A civil day is added, not 24 hours
- The check compares dates
  - in the zone of the schedule
  - never in UTC

    A second paragraph of a member.
- \`TestNextRunAcrossDST\` runs in three zones

1. Find the places
2. Change them
   \`\`\`go
   next = last.AddDate(0, 0, 1)
   \`\`\`
3. Test

- [x] Find why 9 March is skipped
- [ ] Test everything with the race detector

> Quoted text stands apart.
>
> > And what it quotes.

| Zone | Days with 23 h | Days with 25 h | Note |
|:-----|---:|---:|:---:|
| America/Chicago | 1 | 1 | 02:00 |
| Europe/Berlin | 1 | 1 | 02:00 and 03:00 |
| Asia/Shanghai | 0 | 0 | none since 1991 |

### 中文

下一次运行的时间应当按**日历日**计算，而不是加 24 小时。参见 \`next.go\` 第 47 行。[^1]

---

An image is a link: ![A chart of runs](https://example.org/chart.png). HTML is text: <b>not bold</b><br>

A line with  
a break, and a snippet:

\`\`\`go
// Next returns the time of the next run after last.
func (s *Schedule) Next(last time.Time) time.Time {
	next := last.AddDate(0, 0, 1)
	if s.guard > 3 { return fmt.Sprintf("%s: %d", s.Name, 0x1F) }
	return next
}
\`\`\`

[^1]: Counted from the first line of the file, with \`//go:build\`.

تُضاف الآن أيام لا ساعات، انظر \`Next\`.
`;

export const formulas = `The mass is $m = \\frac{E}{c^2}$, costs are $5 and $7, and \\(\\hat{x} \\in \\mathbb{R}^n\\).

$$
\\begin{aligned}
f(x) &= \\int_{-\\infty}^{\\infty} \\hat f(\\xi)\\,e^{2 \\pi i \\xi x} \\,d\\xi \\\\
&= \\sum_{i=0}^n \\binom{n}{i} x^i \\left(\\frac{1}{1 + \\sqrt{2}}\\right)
\\end{aligned}
$$

\\[ \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} \\]

What is none stays its source: $\\unknown{x}$.
`;

export const code: Record<string, string> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code to show
  ts: "export const greet = async (name: string): Promise<number> => {\n  // a comment\n  await send(`Hello ${name}`, { retries: 3, on: true });\n  return 0x1f;\n};\n",
  python:
    'class Job(Base):\n    """Runs once a day."""\n    def next(self, last: datetime) -> datetime:\n        return last + timedelta(days=1)  # wrong twice a year\n',
  rust: 'fn main() -> Result<(), Error> {\n    let v: Vec<u8> = vec![1, 2, 3];\n    println!("{v:?}"); // done\n    Ok(())\n}\n',
  sh: '#!/bin/sh\nfor f in *.go; do\n  go vet "$f" || exit 1 # stop\ndone\n',
  json: '{ "name": "scorel", "count": 3, "on": true, "list": [null, 1.5e3] }\n',
  yaml: "on:\n  push: { branches: [main] }\njobs:\n  - run: make test # all\n",
  html: '<p class="a">Text &amp; <b>bold</b></p>\n<script>const a = 1;</script>\n',
  css: ".a > .b:hover {\n  color: var(--ink); /* why */\n  margin: 0 4px;\n}\n",
  diff: "@@ -1 +1 @@\n-old\n+new\n",
  "": "next = last.Add(24 * time.Hour)   a line that is longer than the box is wide, so that it has to scroll by itself and never the page\n",
};

const context = Array.from({ length: 14 }, (_, i) => ` \t// line ${i + 60} of the file that did not change`).join("\n");
export const diff = `--- a/internal/schedule/next.go
+++ b/internal/schedule/next.go
@@ -45,5 +45,6 @@ func (s *Schedule) Next(last time.Time) time.Time {
 	if last.IsZero() {
 		return s.first
 	}
-	next := last.Add(24 * time.Hour)
+	// A civil day: 23 or 25 hours long when the clocks change.
+	next := last.AddDate(0, 0, 1)
 	return next
@@ -58,18 +59,17 @@ func (s *Schedule) due(now time.Time) bool {
-	return now.Sub(s.last) >= 24*time.Hour && s.enabled
-	// removed
+	return !now.Before(s.Next(s.last)) && s.enabled
${context}
-func old() {}
+func renamed(zone *time.Location, withAVeryLongName string, andAnother int) (time.Time, error) { return zeroTime, nil }
 }
\\ No newline at end of file
`;

export const output = [
  "\u001b[32mok\u001b[0m    cadence/cmd/cadence        \u001b[90m0.41s\u001b[0m",
  "\u001b[31mFAIL\u001b[0m  cadence/internal/schedule  \u001b[90m4.08s\u001b[0m",
  "\u001b[1mbold\u001b[0m \u001b[2mdim\u001b[0m \u001b[3mitalic\u001b[0m \u001b[4munderlined\u001b[0m \u001b[9mstruck\u001b[0m \u001b[7minverse\u001b[0m \u001b[41m red \u001b[0m \u001b[30;42m PASS \u001b[0m \u001b[7;33m WARN \u001b[0m",
  Array.from({ length: 16 }, (_, i) => `\u001b[38;5;${i}m${i}\u001b[0m`).join(" "),
  Array.from({ length: 24 }, (_, i) => `\u001b[38;2;${i * 10};${255 - i * 10};128m#\u001b[48;5;${i * 9}m.\u001b[0m`).join(""),
  "downloading 10%\rdownloading 100%",
  "name\tsize\tstate",
  "宽字符\t| 对齐 |",
  "wide    | ok   |",
  "hidden: \u202egnp.exe \u001b]0;title\u0007",
  "=== RUN   TestStoreClaimsOnce/\u001b[33mtwo_hosts\u001b[0m",
].join("\n");

/** Diagrams by what they are. */
export const diagrams: Record<string, string> = {
  flowchart: `flowchart TD
  accTitle: How a run is started
  A[Schedule is due] --> B{Is the host\nawake?}
  B -->|yes| C[Start the run]
  B -->|no| D[(Log)]
  D -.-> E([Catch up once])
  E --> C
  subgraph later
    C --> F[[Report]]
  end
  style F fill:#f9f,stroke:#333
  style D fill:#113
`,
  wide: `graph LR
  ${Array.from({ length: 14 }, (_, i) => `n${i}[Step number ${i + 1}] --> n${i + 1}[Step number ${i + 2}]`).join("\n  ")}
`,
  sequence: `sequenceDiagram
  autonumber
  participant P as Page
  participant H as Host
  P->>+H: send_message
  H-->>P: accepted
  loop each delta
    H->>P: text
  end
  Note right of H: The log is written first
  H-->>-P: turn ended
`,
  classes: `classDiagram
  class Session {
    +String id
    +append(Event) Seq
  }
  class Lane
  Session "1" --> "1" Lane : owns
  Lane <|-- Reader
`,
  states: `stateDiagram-v2
  [*] --> Idle
  Idle --> Running: message
  state Running {
    [*] --> Thinking
    Thinking --> Calling
  }
  Running --> Idle: end
  Running --> [*]
`,
  entities: `erDiagram
  PROJECT ||--o{ SESSION : has
  SESSION {
    string id PK
    int events
  }
`,
  gantt: `gantt
  title Release
  dateFormat YYYY-MM-DD
  section Build
  Host :done, a, 2026-01-01, 20d
  Page :active, b, after a, 15d
  section Ship
  Tests :crit, c, after b, 10d
`,
  pie: 'pie showData\n  title Tokens\n  "Input" : 60\n  "Output" : 25\n  "Cache" : 15\n',
  mindmap: "mindmap\n  root((Scorel))\n    Host\n      Sessions\n      Tools\n    Page\n    Terminal\n",
  timeline: "timeline\n  title Versions\n  2024 : First sketch\n  2025 : Host : Page\n  2026 : Relay\n",
  git: 'gitGraph\n  commit id: "a"\n  branch web\n  commit id: "b"\n  checkout main\n  merge web tag: "v1"\n',
  journey: "journey\n  title A day\n  section Morning\n    Open: 5: Mira\n    Ask: 3: Mira, Lena\n",
  quadrant: "quadrantChart\n  title Reach\n  x-axis Low --> High\n  y-axis Few --> Many\n  A: [0.3, 0.6]\n  B: [0.7, 0.2]\n",
  chart: 'xychart-beta\n  title "Cost"\n  x-axis [jan, feb, mar]\n  y-axis "USD" 0 --> 10\n  bar [3, 6, 9]\n  line [2, 5, 8]\n',
  wrong: "graph TD\n  A --> B\n  B -->|no end\n  C ->-> D\n",
  other: "this is no diagram\n",
};
