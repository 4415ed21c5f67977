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
  | { readonly is: 'ok'; readonly id?: string; readonly warnings?: readonly string[] }
  /** `unsent`: it never left */
  | { readonly is: 'failed'; readonly why: string; readonly unsent?: true }
  /** sent, and nobody can say whether it happened */
  | { readonly is: 'unknown'; readonly why: string };

export interface Line {
  readonly kind: Kind;
  readonly session: Session;
  readonly writer: Writer;
  /** waits before a lost create is looked up; milliseconds */
  pause(milliseconds: number): Promise<void>;
}

/** How often a lost create is sent, looked up in between. */
const createAttempts = 4;

/** Never rejects: whatever the line throws is an outcome of the call. */
export async function sendCall(call: Call, request: WireRequest, line: Line): Promise<Sent> {
  const first = await sendOnce(call, request, line);
  if (first.is !== 'unknown' || call.repeatable || call.gives === undefined) return first;
  return recoverCreate(call, request, { line, lost: first, address: parseAddress(call.gives.address) });
}

interface Lost {
  readonly line: Line;
  readonly lost: Sent;
  readonly address: Address;
}

/** From here on a refusal, too, may be the echo of our own success ("the name is taken"): the look-up decides. */
async function recoverCreate(call: Call, request: WireRequest, { line, lost, address }: Lost): Promise<Sent> {
  let sent = lost;
  for (let attempt = 1; sent.is !== 'ok'; attempt += 1) {
    // Time for a request that is still under way to arrive, so that the look-up sees what became of it.
    await line.pause(250 * 2 ** (attempt - 1));
    const found = await lookUp(address, line);
    if (found.is === 'theirs') return failed(found.why);
    if (found.is !== 'absent') return found;
    if (sent.is === 'failed' || attempt === createAttempts) {
      return failed(`${sent.why}; looked up by name afterwards: it does not exist`);
    }
    sent = await sendOnce(call, request, line);
  }
  return sent;
}

function failed(why: string): Extract<Sent, { is: 'failed' }> {
  return { is: 'failed', why };
}

async function sendOnce(call: Call, request: WireRequest, line: Line): Promise<Sent> {
  try {
    const answer = await line.writer.send(request);
    if (call.success.includes(answer.status)) return success(call, answer);
    const why = describeAnswer(answer);
    return !call.repeatable && answer.status >= 500 ? { is: 'unknown', why } : failed(why);
  } catch (error) {
    const wasSent = !(error instanceof WireError) || error.sent;
    const why = messageOf(error);
    return wasSent ? { is: 'unknown', why } : { ...failed(why), unsent: true };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function success(call: Call, answer: Answer): Sent {
  const { warnings } = answer;
  const ok = { is: 'ok', ...(warnings === undefined ? {} : { warnings }) } as const;
  if (call.gives === undefined) return ok;
  const id = at(answer.body, call.gives.pointer);
  return typeof id === 'string'
    ? { ...ok, id }
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
    if (!ours) return { is: 'theirs', why: `"${formatAddress(address)}" exists, and is not ours` };
    return { is: 'ok', ...(live.id === undefined ? {} : { id: live.id }) };
  } catch (error) {
    return { is: 'unknown', why: `its answer was lost, and so was the look-up: ${messageOf(error)}` };
  }
}
