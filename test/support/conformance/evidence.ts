/** What a test sent and asserted, recorded while it runs: one line of JSON for each test, in files of one folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SentRequest {
  readonly method: string;
  /** With its query; percent-decoded if that is possible. */
  readonly url: string;
  /** 0 if no response was seen. */
  readonly status: number;
  /** Headers as `name: value`, and the body. */
  readonly content: string;
}

export interface Evidence {
  /** Path below `test`. */
  readonly file: string;
  /** The titles of the groups around the test, and its own; empty for what was sent outside of any test of the file. */
  readonly titles: readonly string[];
  readonly requests: readonly SentRequest[];
  /** The expected values of all assertions. */
  readonly asserted: readonly string[];
}

/** The variable with the path of the folder; without it nothing is recorded. */
export const RECORD_VARIABLE = 'TRUEUP_RECORD_CONFORMANCE';

export function readEvidence(folder: string): Evidence[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Evidence);
}
