/** Where the code of the worker is. A build has it as text, because a build of few files cannot have another one. */
type WorkerCode = { readonly file: URL } | { readonly text: string };

export const workerCode: WorkerCode = { file: new URL('./evaluate-rules.ts', import.meta.url) };
