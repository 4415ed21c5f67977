/** Recorded responses of a real service, see test/vectors/openbao-2.6.2/README.md. */
import { readFileSync } from 'node:fs';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly rawBody?: string;
  /** values to take from the response: their dotted paths, by name */
  readonly capture?: Readonly<Record<string, string>>;
  /** in a setup: the recorded status */
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

/** The responses of the cluster's API. */
export interface ClusterAnswers {
  /** `granted` accepts the account of most fixtures */
  readonly tokenreview?: ClusterAnswer | 'granted';
  readonly namespaces?: Readonly<Record<string, ClusterAnswer>>;
}

/** A request to the cluster's API. */
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
  readonly jwts: Readonly<Record<'projected', { readonly jwt: string }>>;
}

const folder = new URL('../../../../vectors/openbao-2.6.2/', import.meta.url);

/** The lines of `openbao-2.6.2.jsonl`. */
export function recordedCases(): readonly RecordedCase[] {
  return linesOf<RecordedCase>('openbao-2.6.2.jsonl');
}

/** The lines of `random-roles-and-configs.jsonl`: requests to one mount, in order. */
export interface RecordedSteps {
  readonly id: string;
  readonly steps: readonly { readonly request: RecordedRequest; readonly answer: RecordedAnswer }[];
}

export function recordedSteps(): readonly RecordedSteps[] {
  return linesOf<RecordedSteps>('random-roles-and-configs.jsonl');
}

/** The lines of `tokens-policies-http.jsonl`. */
export interface RecordedRequestAfter {
  readonly id: string;
  readonly before: readonly RecordedRequest[];
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
}

export function recordedRequestsAfter(): readonly RecordedRequestAfter[] {
  return linesOf<RecordedRequestAfter>('tokens-policies-http.jsonl');
}

/** The lines of `selectors.jsonl`. */
export interface RecordedSelector {
  readonly selector: string;
  readonly namespaceLabels: readonly Readonly<Record<string, string>>[];
  readonly answer: {
    readonly write: number;
    readonly error: readonly string[] | null;
    readonly logins: readonly number[] | null;
  };
}

export function recordedSelectors(): readonly RecordedSelector[] {
  return linesOf<RecordedSelector>('selectors.jsonl');
}

/** The lines of `jwt-forms.jsonl`. */
export interface RecordedJwtForm {
  readonly config: 'keys' | 'no keys';
  readonly title: string;
  readonly jwt: string;
  readonly answer: {
    readonly status: number;
    readonly errors: readonly string[] | null;
    readonly warnings: readonly string[] | null;
    readonly metadata: Readonly<Record<string, string>> | null;
  };
}

export function recordedJwtForms(): readonly RecordedJwtForm[] {
  return linesOf<RecordedJwtForm>('jwt-forms.jsonl');
}

function linesOf<Line>(file: string): readonly Line[] {
  return readFileSync(new URL(file, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseAsWritten(line) as Line);
}

/** Parses JSON, and keeps the digits of numbers. */
export function parseAsWritten(text: string): unknown {
  return JSON.parse(text, asWritten);
}

type RawJson = { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean };

/** Keeps numbers as they were sent, because `5.0` is not `5` for the service. */
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
