/** Recorded requests of real clients to another server, and its responses (test/vectors/terraform-clients). */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../vectors/terraform-clients/', import.meta.url));

export interface Exchange {
  readonly client: string;
  readonly scenario: string;
  readonly step: string;
  readonly n: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** `otf` is a response of the other server; the others were made or completed for the recording */
    readonly from: 'otf' | 'stub' | 'otf+stub';
    readonly body?: unknown;
  };
}

export const transcripts: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.slice(0, -'.jsonl'.length));

/** All exchanges of a transcript, in order. */
export function readTranscript(name: string): readonly Exchange[] {
  return readFileSync(`${folder}${name}.jsonl`, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange);
}
