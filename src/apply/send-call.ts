/**
 * Sends one call and says what came of it. A create whose answer was lost is looked up by name before anything is sent
 * again: it is never blindly repeated (architecture: apply finishes or tells).
 */
import { messageOf } from '../model/message-of.ts';
import { ownClaim } from '../model/resource/claim.ts';
import { type Address, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { Call } from '../model/plan/call.ts';
import { isJsonObject, type Json, sameJson } from '../model/json/json.ts';
import type { Kind, Session } from '../model/kind/kind.ts';
import type { Origin } from '../model/stack/ledger.ts';
import type { LiveResource, Spec } from '../model/resource/resource.ts';
import { type Answer, describeAnswer, WireError, type WireRequest, type Writer } from '../model/wire.ts';
import { whyStopped } from './why-stopped.ts';

export type Sent =
  | Carried
  /** it was true when the call came: somebody else's doing */
  | { readonly is: 'already' }
  | Failed
  /** sent, and nobody can say whether it happened */
  | { readonly is: 'unknown'; readonly why: string };

export interface Carried {
  readonly is: 'ok';
  /** of what the call created */
  readonly id?: string;
  /** of what a lost create left behind: `adopted` when nothing proves that it was this create */
  readonly origin?: Origin;
  /** absent when it was lost, and what it would have told was looked up */
  readonly answer?: Answer;
}

export interface Failed {
  readonly is: 'failed';
  readonly why: string;
  /** it never left */
  readonly unsent?: true;
  /** it is repeatable, and was answered as by a service that breaks down over it */
  readonly inDoubt?: true;
  /** The status of an answer that says no. Who gives it may have done the work all the same, or have passed it on. */
  readonly refusal?: number;
  /** an earlier try of it came to the service, too: a no may be the echo of that one's success */
  readonly repeated?: true;
}

export interface SendContext {
  readonly kind: Kind;
  readonly session: Session;
  readonly writer: Writer;
  /** of the resource that the call is about, once it has one */
  readonly id?: string | undefined;
  /** what its manifest puts in the place of the birth mark: it proves later who sent the create */
  readonly insteadOfMark: Spec;
  /** once aborted nothing is sent any more; what became of what was sent is looked up all the same */
  readonly stop?: AbortSignal;
  /** waits before a lost create is looked up; milliseconds */
  pause(milliseconds: number): Promise<void>;
}

/** How often a lost create is sent, looked up in between. */
const createAttempts = 4;

/** Never rejects: whatever the line throws is an outcome of the call. */
export async function sendCall(
  call: Call,
  request: WireRequest,
  { line, address }: { readonly line: SendContext; readonly address: Address },
): Promise<Sent> {
  const first = await sendOnce(call, request, { line, address });
  if (call.repeatable || call.createsId === undefined || !isToBeLookedUp(first)) return first;
  return recoverCreate(call, request, { line, lost: first, address: parseAddress(call.createsId.address) });
}

/** A create that was sent again after a 429, say, may find itself: its name is taken. */
function isToBeLookedUp(sent: Sent): boolean {
  return sent.is === 'unknown' || (sent.is === 'failed' && sent.repeated === true && isNo(sent));
}

interface Sending {
  readonly line: SendContext;
  readonly address: Address;
}

interface Lost extends Sending {
  readonly lost: Sent;
}

/** From here on a refusal, too, may be the echo of our own success ("the name is taken"): the look-up decides. */
async function recoverCreate(call: Call, request: WireRequest, { line, lost, address }: Lost): Promise<Sent> {
  let sent = lost;
  for (let attempt = 1; sent.is !== 'ok' && sent.is !== 'already'; attempt += 1) {
    // Time for a request that is still under way to arrive, so that the look-up sees what became of it.
    await line.pause(250 * 2 ** (attempt - 1));
    const found = await lookUp(address, line);
    if (found.is === 'ok') return found;
    const heard = sent.is === 'failed' ? `${sent.why}; looked up by name afterwards: ` : '';
    if (found.is === 'theirs') return failed(`${heard}${found.why}`);
    if (found.is === 'unknown') return { ...found, why: `${heard || lostWords}${found.why}` };
    const last = absentForGood(sent, attempt, line.stop);
    if (last !== undefined) return last;
    sent = await sendOnce(call, request, { line, address });
  }
  return sent;
}

/** What a create ends with that was looked up and does not exist; undefined when it is to be sent once more. */
function absentForGood(
  { is, why }: Exclude<Sent, { is: 'ok' | 'already' }>,
  attempt: number,
  stop: AbortSignal | undefined,
): Failed | undefined {
  const says = `${why}; looked up by name afterwards: it does not exist`;
  if (is === 'failed' || attempt === createAttempts) return failed(says);
  // After one look only, what is still under way may arrive.
  return stop?.aborted
    ? { ...failed(`${says}; not sent again: ${whyStopped(stop)}`), inDoubt: true }
    : undefined;
}

const lostWords = 'its answer was lost, and so was the look-up: ';

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

/** A no to the work itself. To be told to wait, or to be taken for nobody, says nothing about it. */
export function isNo({ refusal }: Failed): boolean {
  return refusal !== undefined && refusal >= 400 && refusal !== 401 && refusal !== 429;
}

async function sendOnce(call: Call, request: WireRequest, { line, address }: Sending): Promise<Sent> {
  try {
    const answer = await line.writer.send(
      line.stop === undefined ? request : { ...request, stop: line.stop },
    );
    if (call.success.includes(answer.status)) return success(call, answer);
    if (call.already?.includes(answer.status)) return await judgeAlready(call, answer, { line, address });
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

/** Only a repetition may have met its own work, and only who can prove it claims it. */
async function judgeAlready(call: Call, answer: Answer, { line, address }: Sending): Promise<Sent> {
  const { kind, session, id } = line;
  if (answer.repeated !== true) return { is: 'already' };
  const about = { address, ...(id === undefined ? {} : { id }) };
  const lost = await kind.lostAnswer?.(session, call, about).catch(() => undefined);
  return lost === undefined ? { is: 'already' } : { is: 'ok', answer: lost };
}

function success(call: Call, answer: Answer): Sent {
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

type LookedUp =
  | Carried
  | { readonly is: 'absent' }
  | { readonly is: 'theirs'; readonly why: string }
  | { readonly is: 'unknown'; readonly why: string };

async function lookUp(address: Address, line: SendContext): Promise<LookedUp> {
  const { kind, session } = line;
  try {
    const live = await kind.readOne(session, address);
    if (live === undefined) return { is: 'absent' };
    const { witness } = live;
    const ours = witness.bornOf === session.stack || ownClaim(witness)?.stack === session.stack;
    if (!ours) return { is: 'theirs', why: `"${formatAddress(address)}" exists, and is not ours` };
    const origin = isThisCreate(live, line) ? 'created' : 'adopted';
    return { is: 'ok', origin, ...(live.id === undefined ? {} : { id: live.id }) };
  } catch (error) {
    return { is: 'unknown', why: messageOf(error) };
  }
}

/**
 * A claim alone may have been copied by somebody: what a create of ours left behind bears our birth mark, or what its
 * manifest says in the place of it (rule 20). What else a create sets, a copy has, too.
 */
export function isThisCreate(
  { spec, witness }: LiveResource,
  { session, insteadOfMark }: Pick<SendContext, 'session' | 'insteadOfMark'>,
): boolean {
  if (witness.bornOf === session.stack) return true;
  const declared = Object.entries(insteadOfMark);
  return declared.length > 0 && declared.every(([name, value]) => sameJson(spec[name], value));
}
