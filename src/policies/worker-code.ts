/** The code of the worker: a file, or, in a build, a text, because a single executable cannot have another file. */
type WorkerCode = { readonly file: URL } | { readonly text: string };

export const workerCode: WorkerCode = { file: new URL('./evaluate-rules.ts', import.meta.url) };
