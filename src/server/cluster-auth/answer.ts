/**
 * The answer of an operation of the secrets service, as a value; cluster-auth-routes.ts adds the envelope and sends it.
 * Invariant: an error has at most one text; a success has data, warnings or nothing (wire/cluster-auth 2.1).
 */
import { inOrderOfNames } from './json-values.ts';

/** The answer to one request, without the envelope. A success without data and warnings is a 204 without a body. */
export type SecretsAnswer =
  | {
      readonly status: 200;
      readonly data: Readonly<Record<string, unknown>> | null;
      readonly warnings?: readonly string[];
      readonly auth?: AuthDocument;
      /** Repeats the members of the data at the top level, beside those of the envelope, as some paths below `sys/` do. */
      readonly onTop?: boolean;
    }
  | { readonly status: number; readonly bare: Readonly<Record<string, unknown>> }
  | { readonly status: 204 }
  | { readonly status: 307; readonly location: string }
  | { readonly status: number; readonly errors: readonly string[] };

/** The token that was created or renewed (wire/cluster-auth 3). */
export interface AuthDocument {
  readonly client_token: string;
  readonly accessor: string;
  readonly policies: readonly string[];
  /** Absent for a token without policies. */
  readonly token_policies?: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  /** In seconds. */
  readonly lease_duration: number;
  readonly renewable: boolean;
  readonly entity_id: string;
  readonly token_type: string;
  readonly orphan: boolean;
  readonly mfa_requirement: null;
  readonly num_uses: number;
}

/** 200 with data. */
export function answerData(data: Readonly<Record<string, unknown>>): SecretsAnswer {
  return { status: 200, data };
}

/** The answer to a write or a delete: 204, or 200 with the warnings when there are any. */
export function answerDone(warnings: string[] = []): SecretsAnswer {
  return warnings.length === 0 ? { status: 204 } : { status: 200, data: null, warnings };
}

/** 200 with a token. */
export function answerAuth(auth: AuthDocument, warnings: readonly string[] = []): SecretsAnswer {
  return { status: 200, data: null, auth, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** 200 with data, whose members are also at the top level. */
export function answerOnTop(data: Readonly<Record<string, unknown>>): SecretsAnswer {
  return { status: 200, data, onTop: true };
}

/** An answer without an envelope, such as the health of the service, or help. */
export function answerBare(status: number, bare: Readonly<Record<string, unknown>>): SecretsAnswer {
  return { status, bare };
}

/** An error with this text; without a text the body is `{"errors":[]}`. */
export function answerError(status: number, text?: string): SecretsAnswer {
  return { status, errors: text === undefined ? [] : [text] };
}

/** An error in the form of the real service's core. Its auth methods use the form of `answerError`. */
export function answerWrappedError(status: number, text: string): SecretsAnswer {
  return answerError(status, `1 error occurred:\n\t* ${text}\n\n`);
}

/** The answer for a config that was never written, an unknown role, or an empty list. */
export const NOT_FOUND: SecretsAnswer = answerError(404);

/** The body of the HTTP response; undefined for 204 (wire/cluster-auth 2.1, "Success with data"). */
export function envelope(answer: SecretsAnswer, requestId: string): object | undefined {
  if ('errors' in answer) return { errors: answer.errors };
  if ('bare' in answer) return answer.bare;
  if (!('data' in answer)) return undefined;
  const data = inOrderOfNames(answer.data);
  return {
    ...(answer.onTop === true ? (data as object) : {}),
    request_id: requestId,
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: answer.warnings ?? null,
    auth: answer.auth ?? null,
  };
}

/** The warning about parameters of a request that the path does not know. */
export function ignoredWarnings(sent: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  const ignored = Object.keys(sent).filter((name) => !known.includes(name));
  return ignored.length === 0
    ? []
    : [`Endpoint ignored these unrecognized parameters: [${ignored.toSorted().join(' ')}]`];
}
