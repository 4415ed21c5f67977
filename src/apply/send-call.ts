/**
 * Sends one call and says what came of it. A create whose answer was lost is looked up by name before anything is sent
 * again: it is never blindly repeated (DESIGN section 4, "Apply finishes or tells").
 */
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { Kind, Session } from '../model/kind.ts';
import { type Answer, describeAnswer, WireError, type WireRequest, type Writer } from '../model/wire.ts';

export type Sent =
  | { readonly is: 'ok'; readonly id?: string }
  | { readonly is: 'failed'; readonly why: string }
  /** sent, and nobody can say whether it happened */
  | { readonly is: 'unknown'; readonly why: string };

export interface Line {
  readonly kind: Kind;
  readonly session: Session;
  readonly writer: Writer;
  /** waits before a lost create is sent again; milliseconds */
  pause(milliseconds: number): Promise<void>;
}

/** How often a lost create is sent, looked up in between. */
const createAttempts = 4;

export async function sendCall(call: Call, request: WireRequest, line: Line): Promise<Sent> {
  if (call.repeatable || call.gives === undefined) return sendOnce(call, request, line);
  const address = parseAddress(call.gives.address);
  let sent = await sendOnce(call, request, line);
  if (sent.is !== 'unknown') return sent;
  for (let attempt = 2; ; attempt += 1) {
    // From here on a refusal, too, may be the echo of our own success: the look-up decides.
    const found = await lookUp(address, line);
    if (found.is === 'theirs') return failed(found.why);
    if (found.is !== 'absent') return found;
    if (sent.is === 'failed' || attempt > createAttempts) {
      return failed(`${sent.why}; looked up by name afterwards: it does not exist`);
    }
    await line.pause(250 * 2 ** attempt);
    sent = await sendOnce(call, request, line);
    if (sent.is === 'ok') return sent;
  }
}

function failed(why: string): Sent {
  return { is: 'failed', why };
}

async function sendOnce(call: Call, request: WireRequest, line: Line): Promise<Sent> {
  try {
    const answer = await line.writer.send(request);
    if (call.success.includes(answer.status)) return success(call, answer);
    const why = describeAnswer(answer);
    return !call.repeatable && answer.status >= 500 ? { is: 'unknown', why } : failed(why);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return error.sent ? { is: 'unknown', why: error.message } : failed(error.message);
  }
}

function success(call: Call, answer: Answer): Sent {
  if (call.gives === undefined) return { is: 'ok' };
  const id = at(answer.body, call.gives.pointer);
  return typeof id === 'string'
    ? { is: 'ok', id }
    : { is: 'unknown', why: `${describeAnswer(answer)}, but its body holds no id` };
}

/** @param pointer JSON pointer without escapes, `/data/id` */
function at(body: Json, pointer: string): Json | undefined {
  let value: Json | undefined = body;
  for (const key of pointer.split('/').slice(1)) value = isJsonObject(value) ? value[key] : undefined;
  return value;
}

type LookedUp =
  | { readonly is: 'ok'; readonly id?: string }
  | { readonly is: 'absent' }
  | { readonly is: 'theirs'; readonly why: string }
  | { readonly is: 'unknown'; readonly why: string };

async function lookUp(address: Address, { kind, session }: Line): Promise<LookedUp> {
  try {
    const live = await kind.readOne(session, address);
    if (live === undefined) return { is: 'absent' };
    const { claim, bornOf } = live.witness;
    const ours = bornOf === session.stack || (claim?.stack === session.stack && !claim.inherited);
    if (!ours) return { is: 'theirs', why: `${formatAddress(address)} exists, and is not ours` };
    return { is: 'ok', ...(live.id === undefined ? {} : { id: live.id }) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { is: 'unknown', why: `its answer was lost, and so was the look-up: ${error.message}` };
  }
}
