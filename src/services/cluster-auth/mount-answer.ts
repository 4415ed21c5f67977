/**
 * Interprets the answers of a mount. A 404 means "there is none" only when its `errors` are empty; any other 404 means that
 * the mount does not exist. Treating such a mount as empty would prune everything.
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { type Answer, describeAnswer, WireError } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { explainRefusal } from '../../http/explain-refusal.ts';
import { mountSegments, mountText } from './mount.ts';

export type MountAnswer =
  | { readonly is: 'data'; readonly data: JsonObject; readonly answer: Answer }
  /** nothing exists: a config that was never written, an unknown role, or an empty list */
  | { readonly is: 'none' }
  | Unread;

/** An answer that is neither data nor "there is none". */
interface Unread {
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

/** As an error, for reads before a write: without knowing the live state nothing is written. */
export function unreadError({ why, answer: { method, url } }: Pick<Unread, 'why' | 'answer'>): WireError {
  return new WireError(why, { method, url, sent: false });
}

/** Whether the mount does not know the path: another method is mounted there (wire/cluster-auth 2.1). */
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
  const mount = mountText(session);
  const description = describeAnswer(answer);
  const whole = explainRefusal(session.target, answer);
  if (whole !== undefined) return `${mount} could not be read: ${whole}`;
  if (answer.status === 403)
    return `${mount} cannot be read with this token: ${description}; ${whatToCheck(session)}`;
  if (answer.status === 404)
    return `${mount} does not exist or serves no cluster authentication: ${description}`;
  if (answer.status === 200) return `${mount} gave an answer without data: ${description}`;
  return `${mount} could not be read: ${description}`;
}

/** A service tells neither an unknown token nor one in another header from one that lacks a right (wire/cluster-auth 2.1). */
function whatToCheck({ target, dialect }: Session): string {
  const path = mountSegments(target, dialect).join('/');
  return `check that it is valid, has uses left, and may "list" and "read" below ${quoted(`${path}/`)}, and that the target's "dialect" is right (${quoted(dialect.name)} sends it as ${quoted(dialect.tokenHeader)})`;
}
