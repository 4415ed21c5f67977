/** The recorded answers of a real service, as test/vectors/openbao-2.6.2/README.md describes them. */
import { readFileSync } from 'node:fs';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly rawBody?: string;
  /** name → dotted path in the answer */
  readonly capture?: Readonly<Record<string, string>>;
  /** in a setup: what it was answered */
  readonly status?: number;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ClusterAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** How the cluster's API answers. */
export interface ClusterAnswers {
  readonly tokenreview?: ClusterAnswer;
  readonly namespaces?: Readonly<Record<string, ClusterAnswer>>;
}

/** What the cluster's API was asked. */
export interface ClusterQuestion {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly accept: string | null;
  readonly contentType: string | null;
  readonly body: unknown;
  readonly tls: boolean;
}

export interface RecordedCase {
  readonly id: string;
  readonly title: string;
  readonly insidePod?: boolean;
  readonly cluster?: ClusterAnswers;
  readonly setup: readonly RecordedRequest[];
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
  readonly clusterSaw?: readonly ClusterQuestion[];
}

interface Fixtures {
  readonly keys: Readonly<
    Record<'rsa' | 'ec' | 'ed25519', { readonly private: string; readonly public: string }>
  >;
  readonly certs: Readonly<
    Record<'ca' | 'otherCa' | 'server', { readonly certificate: string; readonly private: string }>
  >;
}

const folder = new URL('../../../../vectors/openbao-2.6.2/', import.meta.url);

export function recordedCases(): readonly RecordedCase[] {
  return readFileSync(new URL('openbao-2.6.2.jsonl', folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line, asWritten) as RecordedCase);
}

type RawJson = { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean };

/** Numbers keep the digits that were sent: `5.0` is not `5` for the service. */
function asWritten(this: unknown, _key: string, value: unknown, ...[context]: unknown[]): unknown {
  if (typeof value !== 'number') return value;
  const { source } = context as { readonly source: string };
  return String(value) === source ? value : (JSON as unknown as RawJson).rawJSON(source);
}

export function isRawJson(value: unknown): boolean {
  return (JSON as unknown as RawJson).isRawJSON(value);
}

export function fixtures(): Fixtures {
  return JSON.parse(readFileSync(new URL('fixtures.json', folder), 'utf8')) as Fixtures;
}
