/**
 * What trueup uses of `@dagrejs/dagre`. The package's own types import each other without file extensions, which this project's module
 * resolution refuses; tsconfig.json puts this file in their place.
 */
interface Point {
  readonly x: number;
  readonly y: number;
}

export declare class Graph {
  constructor(options: { readonly directed: boolean });
  setGraph(label: {
    readonly rankdir: 'LR';
    readonly nodesep: number;
    readonly ranksep: number;
    readonly marginx: number;
    readonly marginy: number;
  }): void;
  setDefaultEdgeLabel(label: () => object): void;
  setNode(name: string, size: { readonly width: number; readonly height: number }): void;
  setEdge(from: string, to: string): void;
  /** after the layout: the size of the whole */
  graph(): { readonly width?: number; readonly height?: number };
  /** after the layout: the middle of the node */
  node(name: string): Point;
  /** after the layout */
  edge(from: string, to: string): { readonly points?: readonly Point[] };
}

/** Writes positions into the graph. */
export declare function layout(graph: Graph): void;
