import type { Look } from "./say";

/** What is wrong in the drawings of the library, and what moves: drawings stand still. */
export function corrections({ colours, dark }: Look): string {
  return `
#d .mindmap-node > circle ~ .label text { text-anchor: middle; }
#d .mindmap-node { filter: none; }
#d .tick line { stroke: ${colours[dark ? "line-2" : "line-3"] ?? "currentColor"}; }
#d * { animation: none !important; transition: none !important; }`;
}

/** A colour with so much of another below it; both are written as #rrggbb. */
function mixed(over: string, below: string, share: number): string {
  const parts = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) || 0);
  const b = parts(below);
  return `#${parts(over)
    .map((v, i) =>
      Math.round(v * share + (b[i] ?? 0) * (1 - share))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** The colours of the theme as mermaid names them. */
export function variables({ colours, dark }: Look): Record<string, unknown> {
  const c = (name: string) => colours[name] ?? (dark ? "#ffffff" : "#000000");
  const text = c("text-1");
  const page = c("surface-page");
  const well = c(dark ? "surface-selected" : "surface-sunken");
  const edge = c("line-3");
  // In their order neighbours differ.
  const strong = ["tool", "thinking", "info", "user", "ok", "warn"].map(c);
  const tints = strong.map((s) => mixed(s, page, dark ? 0.25 : 0.3));
  const vars: Record<string, unknown> = {
    background: page,
    primaryColor: well,
    primaryTextColor: text,
    primaryBorderColor: edge,
    secondaryColor: c("tool-wash"),
    secondaryTextColor: text,
    secondaryBorderColor: edge,
    tertiaryColor: c("surface-ground"),
    tertiaryTextColor: text,
    tertiaryBorderColor: c("line-2"),
    mainBkg: well,
    nodeBorder: edge,
    nodeTextColor: text,
    textColor: text,
    titleColor: text,
    lineColor: c("text-3"),
    arrowheadColor: c("text-3"),
    edgeLabelBackground: page,
    clusterBkg: c("surface-ground"),
    clusterBorder: c("line-2"),
    noteBkgColor: c("accent-wash"),
    noteTextColor: text,
    noteBorderColor: c("accent-line"),
    errorBkgColor: c("error-wash"),
    errorTextColor: text,
    actorBkg: well,
    actorBorder: edge,
    actorTextColor: text,
    actorLineColor: edge,
    signalColor: c("text-2"),
    signalTextColor: text,
    labelBoxBkgColor: c("surface-ground"),
    labelBoxBorderColor: edge,
    labelTextColor: text,
    loopTextColor: text,
    activationBkgColor: c("surface-selected"),
    activationBorderColor: edge,
    sequenceNumberColor: page,
    sectionBkgColor: c("surface-ground"),
    altSectionBkgColor: page,
    sectionBkgColor2: well,
    gridColor: c("line-2"),
    todayLineColor: c("accent"),
    taskBkgColor: c("info-wash"),
    taskBorderColor: c("info"),
    taskTextColor: text,
    taskTextDarkColor: text,
    taskTextLightColor: text,
    taskTextOutsideColor: text,
    taskTextClickableColor: text,
    activeTaskBkgColor: c("accent-wash"),
    activeTaskBorderColor: c("accent"),
    doneTaskBkgColor: c("surface-selected"),
    doneTaskBorderColor: edge,
    critBkgColor: c("error-wash"),
    critBorderColor: c("error"),
    classText: text,
    fillType0: well,
    relationColor: c("text-3"),
    relationLabelBackground: page,
    relationLabelColor: text,
    requirementBackground: well,
    requirementBorderColor: edge,
    requirementTextColor: text,
    attributeBackgroundColorOdd: page,
    attributeBackgroundColorEven: c("surface-ground"),
    rowOdd: page,
    rowEven: c("surface-ground"),
    stateBkg: well,
    stateLabelColor: text,
    labelBackgroundColor: page,
    compositeBackground: page,
    compositeTitleBackground: c("surface-ground"),
    compositeBorder: edge,
    transitionColor: c("text-3"),
    transitionLabelColor: text,
    specialStateColor: c("text-2"),
    innerEndBackground: c("text-2"),
    pieTitleTextColor: text,
    pieSectionTextColor: page,
    pieLegendTextColor: text,
    pieStrokeColor: page,
    pieOuterStrokeColor: c("line-2"),
    pieOpacity: "1",
    commitLabelColor: text,
    commitLabelBackground: page,
    tagLabelColor: text,
    tagLabelBackground: c("accent-wash"),
    tagLabelBorder: c("accent-line"),
    quadrant1Fill: c("surface-ground"),
    quadrant2Fill: page,
    quadrant3Fill: c("surface-ground"),
    quadrant4Fill: page,
    quadrant1TextFill: text,
    quadrant2TextFill: text,
    quadrant3TextFill: text,
    quadrant4TextFill: text,
    quadrantPointFill: c("accent"),
    quadrantPointTextFill: text,
    quadrantXAxisTextFill: text,
    quadrantYAxisTextFill: text,
    quadrantTitleFill: text,
    quadrantInternalBorderStrokeFill: c("line-2"),
    quadrantExternalBorderStrokeFill: edge,
    faceColor: c(dark ? "text-3" : "surface-sunken"),
    personBkg: well,
    personBorder: edge,
    archEdgeColor: c("text-3"),
    archEdgeArrowColor: c("text-3"),
    archGroupBorderColor: edge,
    xyChart: {
      backgroundColor: page,
      titleColor: text,
      xAxisTitleColor: text,
      xAxisLabelColor: text,
      xAxisTickColor: edge,
      xAxisLineColor: edge,
      yAxisTitleColor: text,
      yAxisLabelColor: text,
      yAxisTickColor: edge,
      yAxisLineColor: edge,
      // Bars are often first, and lines are drawn over them.
      plotColorPalette: [mixed(c("tool"), page, 0.45), ...strong.slice(1), c("tool")].join(","),
    },
  };
  for (let i = 0; i < 12; i++) {
    const tint = tints[i % tints.length];
    Object.assign(vars, {
      [`cScale${i}`]: tint,
      [`cScaleLabel${i}`]: text,
      [`cScalePeer${i}`]: edge,
      [`cScaleInv${i}`]: edge,
      [`surface${i}`]: tint,
      [`surfacePeer${i}`]: edge,
      [`pie${i + 1}`]: strong[i % strong.length],
      [`fillType${i}`]: tint,
      [`venn${i + 1}`]: tint,
    });
    if (i < 6) vars[`actor${i}`] = strong[i];
    if (i < 8) Object.assign(vars, { [`git${i}`]: strong[i % strong.length], [`gitBranchLabel${i}`]: page, [`gitInv${i}`]: page });
  }
  return vars;
}
