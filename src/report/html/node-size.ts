/** The size of a box of the graph: the layout and the drawing must mean the same. */
export const nodeSize = { width: 272, height: 50 };
