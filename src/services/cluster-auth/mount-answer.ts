/**
 * What an answer of a mount means. The one thing to get right: a 404 is "there is none" only when its `errors` are
 * empty; any other 404 is a mount that does not exist, and taking it for an empty one would prune everything.
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { type Answer, describeAnswer, WireError } from '../../model/wire.ts';
import { mountWords } from './mount.ts';

export type MountAnswer =
  | { readonly is: 'data'; readonly data: JsonObject; readonly answer: Answer }
  /** nothing there: a config never written, an unknown role, a list of nothing */
  | { readonly is: 'none' }
  | Unread;

/** Neither an object nor the word that there is none. */
export interface Unread {
  readonly is: 'unread';
  /** a sentence for the coverage of the plan */
  readonly why: string;
  readonly answer: Answer;
}

/** Source: wire/cluster-auth 2.1 (envelope and statuses); rule 8. */
export function mountAnswer(session: Session, answer: Answer): MountAnswer {
  const data = isJsonObject(answer.body) ? answer.body['data'] : undefined;
  if (answer.status === 200 && isJsonObject(data)) return { is: 'data', data, answer };
  if (answer.status === 404 && hasNoErrors(answer.body)) return { is: 'none' };
  return { is: 'unread', why: whyUnread(session, answer), answer };
}

/** For a look that has to end in knowing: nothing is written where nobody can tell what is there. */
export function unreadError({ why, answer: { method, url } }: Pick<Unread, 'why' | 'answer'>): WireError {
  return new WireError(why, { method, url, sent: false });
}

/** The path is none of the mount's own: another method is mounted there (wire/cluster-auth 2.1). */
export function isUnsupportedPath({ answer: { status, body } }: Unread): boolean {
  return status === 404 && errorsOf(body).some((error) => String(error).includes('unsupported path'));
}

function hasNoErrors(body: Json): boolean {
  return isJsonObject(body) && Array.isArray(body['errors']) && errorsOf(body).length === 0;
}

function errorsOf(body: Json): readonly Json[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  return Array.isArray(errors) ? errors : [];
}

function whyUnread(session: Session, answer: Answer): string {
  const mount = mountWords(session);
  const told = describeAnswer(answer);
  if (answer.status === 403) return `${mount} cannot be read with this token: ${told}`;
  if (answer.status === 404) return `${mount} does not exist or serves no cluster authentication: ${told}`;
  if (answer.status === 200) return `${mount} gave an answer without data: ${told}`;
  return `${mount} could not be read: ${told}`;
}
