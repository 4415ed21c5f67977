/**
 * Sends one call and returns the result. A create whose answer was lost is looked up by name before it is sent again, and
 * never blindly repeated (architecture: apply finishes or tells).
 */
import { messageOf } from '../model/message-of.ts';
import type { Change } from '../model/plan/change.ts';
import { ownClaim } from '../model/resource/claim.ts';
import { type Address, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { Call } from '../model/plan/call.ts';
import { isJsonObject, type Json, sameJson } from '../model/json/json.ts';
import type { Kind, Session } from '../model/kind/kind.ts';
import type { Origin } from '../model/stack/ledger.ts';
import type { LiveResource, Spec } from '../model/resource/resource.ts';
import { type Answer, describeAnswer, WireError, type WireRequest, type Writer } from '../model/wire.ts';
import { whyStopped } from './why-stopped.ts';

export type SendResult =
  | CarriedOutCall
  /** somebody else had done the same before */
  | { readonly is: 'already' }
  | Failed
  /** sent, and it is not known whether it was carried out */
  | { readonly is: 'unknown'; readonly why: string };

interface CarriedOutCall {
  readonly is: 'ok';
  /** the id of the created resource */
  readonly id?: string;
  /** after a lost create: `adopted` when nothing proves that this create made the resource */
  readonly origin?: Origin;
  /** absent when it was lost and the resource was looked up instead */
  readonly answer?: Answer;
}

export interface Failed {
  readonly is: 'failed';
  readonly why: string;
  /** the request was never sent */
  readonly unsent?: true;
  /** it is repeatable, and was answered with a status after which it may have been carried out, such as 500 */
  readonly inDoubt?: true;
  /** the status of a refusal; the service may have carried out the request all the same */
  readonly refusal?: number;
  /** an earlier try reached the service, too: the refusal may be a consequence of that try's success */
  readonly repeated?: true;
}

export interface SendContext {
  readonly kind: Kind;
  readonly session: Session;
  readonly writer: Writer;
  /** id of the resource that the call is about, once it has one */
  readonly id?: string | undefined;
  /** the declared value of the field of the birth mark, if a manifest sets it: it proves later who sent the create */
  readonly declaredMark: Spec;
  /** once aborted, nothing more is sent; a lost create that was sent is looked up all the same */
  readonly stop?: AbortSignal;
  /** Waits before a lost create is looked up. @param milliseconds duration */
  pause(milliseconds: number): Promise<void>;
}

/** How often a lost create is sent at most; it is looked up in between. */
const createAttempts = 4;

/** Never rejects: a thrown error becomes the result of the call. */
export async function sendCall(
  call: Call,
  request: WireRequest,
  { context, address }: { readonly context: SendContext; readonly address: Address },
): Promise<SendResult> {
  const first = await sendOnce(call, request, { context, address });
  if (call.repeatable || call.createsId === undefined || !needsLookup(first)) return first;
  return recoverCreate(call, request, {
    context,
    lost: first,
    address: parseAddress(call.createsId.address),
  });
}

/** A refused create is looked up if an earlier try may have created the resource, whose name is taken then. */
function needsLookup(sent: SendResult): boolean {
  return sent.is === 'unknown' || (sent.is === 'failed' && sent.repeated === true && isRefusal(sent));
}

interface SendTarget {
  readonly context: SendContext;
  readonly address: Address;
}

interface LostCreate extends SendTarget {
  readonly lost: SendResult;
}

/** After a lost create, a refusal ("the name is taken") may mean that it succeeded: the look-up decides. */
async function recoverCreate(
  call: Call,
  request: WireRequest,
  { context, lost, address }: LostCreate,
): Promise<SendResult> {
  let sent = lost;
  for (let attempt = 1; sent.is !== 'ok' && sent.is !== 'already'; attempt += 1) {
    // A lost request may still be on its way: wait, so that the look-up sees its effect.
    await context.pause(250 * 2 ** (attempt - 1));
    const found = await lookUp(address, context);
    if (found.is === 'ok') return found;
    const prefix = sent.is === 'failed' ? `${sent.why}; looked up by name afterwards: ` : '';
    if (found.is === 'theirs') return failed(`${prefix}${found.why}`);
    if (found.is === 'unknown') return { ...found, why: `${prefix || bothLost}${found.why}` };
    const last = resultIfAbsent(sent, attempt, context.stop);
    if (last !== undefined) return last;
    sent = await sendOnce(call, request, { context, address });
  }
  return sent;
}

/** The result of a create whose resource does not exist; undefined when it is to be sent again. */
function resultIfAbsent(
  { is, why }: Exclude<SendResult, { is: 'ok' | 'already' }>,
  attempt: number,
  stop: AbortSignal | undefined,
): Failed | undefined {
  const message = `${why}; looked up by name afterwards: it does not exist`;
  if (is === 'failed' || attempt === createAttempts) return failed(message);
  // The request may still arrive: one look does not prove that it will not.
  return stop?.aborted
    ? { ...failed(`${message}; not sent again: ${whyStopped(stop)}`), inDoubt: true }
    : undefined;
}

const bothLost = 'its answer was lost, and so was the look-up: ';

function failed(why: string): Failed {
  return { is: 'failed', why };
}

function refused(answer: Answer): Failed {
  const { status, repeated } = answer;
  return {
    ...failed(describeAnswer(answer)),
    refusal: status,
    ...(repeated === undefined ? {} : { repeated }),
  };
}

/** A refusal of the request itself; not 429 (wait) or 401 (not authenticated). */
export function isRefusal({ refusal }: Failed): boolean {
  return refusal !== undefined && refusal >= 400 && refusal !== 401 && refusal !== 429;
}

async function sendOnce(
  call: Call,
  request: WireRequest,
  { context, address }: SendTarget,
): Promise<SendResult> {
  try {
    const answer = await context.writer.send(
      context.stop === undefined ? request : { ...request, stop: context.stop },
    );
    if (call.success.includes(answer.status)) return success(call, answer);
    if (call.already?.includes(answer.status)) return await judgeAlready(call, answer, { context, address });
    const why = describeAnswer(answer);
    if (!mayHaveActed(answer)) return refused(answer);
    return call.repeatable ? { ...failed(why), inDoubt: true } : { is: 'unknown', why };
  } catch (error) {
    const wasSent = !(error instanceof WireError) || error.sent;
    const why = messageOf(error);
    return wasSent ? { is: 'unknown', why } : { ...failed(why), unsent: true };
  }
}

function mayHaveActed({ status }: Answer): boolean {
  return status >= 500 || status === 408;
}

/** A repeated call may find its own work done; it counts as ours only if the kind can prove it. */
async function judgeAlready(
  call: Call,
  answer: Answer,
  { context, address }: SendTarget,
): Promise<SendResult> {
  const { kind, session, id } = context;
  if (answer.repeated !== true) return { is: 'already' };
  const about = { address, ...(id === undefined ? {} : { id }) };
  const lost = await kind.recoverAnswer?.(session, call, about).catch(() => undefined);
  return lost === undefined ? { is: 'already' } : { is: 'ok', answer: lost };
}

function success(call: Call, answer: Answer): SendResult {
  if (call.createsId === undefined) return { is: 'ok', answer };
  const id = at(answer.body, call.createsId.pointer);
  return typeof id === 'string'
    ? { is: 'ok', id, answer }
    : { is: 'unknown', why: `${describeAnswer(answer)}, but its body holds no id` };
}

/** @param pointer JSON pointer without escapes, `/data/id` */
function at(body: Json, pointer: string): Json | undefined {
  let value: Json | undefined = body;
  for (const key of pointer.split('/').slice(1)) value = isJsonObject(value) ? value[key] : undefined;
  return value;
}

type LookupResult =
  | CarriedOutCall
  | { readonly is: 'absent' }
  | { readonly is: 'theirs'; readonly why: string }
  | { readonly is: 'unknown'; readonly why: string };

async function lookUp(address: Address, context: SendContext): Promise<LookupResult> {
  const { kind, session } = context;
  try {
    const live = await kind.readOne(session, address);
    if (live === undefined) return { is: 'absent' };
    const { witness } = live;
    const ours = witness.bornOf === session.stack || ownClaim(witness)?.stack === session.stack;
    if (!ours) return { is: 'theirs', why: `"${formatAddress(address)}" exists, and is not ours` };
    const origin = isThisCreate(live, context) ? 'created' : 'adopted';
    return { is: 'ok', origin, ...(live.id === undefined ? {} : { id: live.id }) };
  } catch (error) {
    return { is: 'unknown', why: messageOf(error) };
  }
}

/**
 * Whether our create made this resource: it has our birth mark, or the declared value of the mark's field (rule 20). The
 * claim and all other values prove nothing, because a copy of the resource has them, too.
 */
export function isThisCreate(
  { spec, witness }: LiveResource,
  { session, declaredMark }: Pick<SendContext, 'session' | 'declaredMark'>,
): boolean {
  if (witness.bornOf === session.stack) return true;
  const declared = Object.entries(declaredMark);
  return declared.length > 0 && declared.every(([name, value]) => sameJson(spec[name], value));
}

/** The declared value of the birth mark's field, where a create sends one. */
export function declaredMark({ action, fields }: Change, kind: Kind): Spec {
  if (action !== 'create') return {};
  return Object.fromEntries(
    fields.flatMap(({ path: [name = ''], after }) =>
      after !== undefined && kind.fields[name]?.bearsBirthMark ? [[name, after] as const] : [],
    ),
  );
}
