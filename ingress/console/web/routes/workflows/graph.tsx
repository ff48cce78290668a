/** Read-only graph of a definition: a node for each step, an edge for each dependency. The text of the definition is the truth. */
import { Graph, layout } from "@dagrejs/dagre";
import type { JSX } from "preact";

import { dependenciesOf, type Step } from "./steps.ts";

const NODE = { width: 124, height: 50 };
const MARGIN = 6;
/** Smallest scale of a wide graph. Its texts are readable; a graph that needs a smaller scale scrolls. */
const SCALE_MIN = 0.8;
/** Maximum number of characters of a node's text. */
const CHARS_MAX = 15;

const WORDS: Readonly<Record<string, string>> = {
  succeeded: "✓ OK",
  failed: "✕ Failed",
  running: "Running",
  queued: "Queued",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export function StepGraph({
  steps,
  statusOf,
}: {
  readonly steps: readonly Step[];
  /** Status of a step in a run. Absent: the graph shows a definition. */
  readonly statusOf?: (id: string) => string | undefined;
}): JSX.Element {
  const { nodes, edges, width, height } = placesOf(steps);
  return (
    <svg
      class="graph"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      style={{ "--min": `${width * SCALE_MIN}px` }}
      role="img"
      aria-label={descriptionOf(steps)}
    >
      {edges.map(({ key, d }) => (
        <path key={key} d={d} />
      ))}
      {nodes.map(({ step, x, y }) => {
        const status = statusOf?.(step.id);
        const word = status && (WORDS[status] ?? status);
        return (
          <g key={step.id} class={`node ${status ?? ""}`}>
            <title>{`${step.id}: ${step.model ?? step.type}`}</title>
            <rect x={x} y={y} width={NODE.width} height={NODE.height} rx="8" />
            <text class="n" x={x + 12} y={y + 21}>
              {cut(step.id, word === undefined ? CHARS_MAX : CHARS_MAX - word.length - 1)}
            </text>
            <text class="m" x={x + 12} y={y + 38}>
              {cut(`${step.model ?? step.type}${step.isList ? " × n" : ""}`, CHARS_MAX)}
            </text>
            {word === undefined ? null : (
              <text class="st" x={x + NODE.width - 12} y={y + 21} text-anchor="end">
                {word}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function descriptionOf(steps: readonly Step[]): string {
  const lines = steps.map((step) => {
    const after = dependenciesOf(step, steps);
    return after.length === 0 ? step.id : `${step.id} after ${after.join(" and ")}`;
  });
  return `Graph: ${lines.join(", ")}`;
}

interface Places {
  readonly nodes: readonly { readonly step: Step; readonly x: number; readonly y: number }[];
  readonly edges: readonly { readonly key: string; readonly d: string }[];
  readonly width: number;
  readonly height: number;
}

/** Returns the place of each node and the path of each edge. */
function placesOf(steps: readonly Step[]): Places {
  const graph = new Graph<
    { width: number; height: number },
    { x: number; y: number },
    { points: { x: number; y: number }[] }
  >();
  graph.setGraph({ rankdir: "TB", nodesep: 12, ranksep: 34, marginx: MARGIN, marginy: MARGIN } as never);
  graph.setDefaultEdgeLabel(() => ({ points: [] }));
  for (const { id } of steps) graph.setNode(id, { ...NODE } as never);
  for (const step of steps) for (const before of dependenciesOf(step, steps)) graph.setEdge(before, step.id);
  layout(graph);
  const { width, height } = graph.graph();
  return {
    nodes: steps.map((step) => {
      const { x, y } = graph.node(step.id);
      return { step, x: x - NODE.width / 2, y: y - NODE.height / 2 };
    }),
    edges: graph.edges().map((edge) => {
      const points = graph.edge(edge).points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
      return { key: `${edge.v} ${edge.w}`, d: `M${points.join("L")}` };
    }),
    width,
    height,
  };
}
