/** Where the code of the worker is. A build has it as a text, because a program of few files has no place for another one. */
type WorkerCode = { readonly file: URL } | { readonly text: string };

export const workerCode: WorkerCode = { file: new URL('./worker.ts', import.meta.url) };
