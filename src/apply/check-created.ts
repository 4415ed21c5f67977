/**
 * Checks that the response to a create shows the created resource, before its id is recorded and used in further calls. A service
 * may return another resource, or one that another user created under the same name.
 */
import { type Address, parseAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Answer } from '../model/http.ts';
import type { Kind } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import type { ReturnedResource } from '../model/resource.ts';
import { type CarriedOutCall, findByName, type SendContext, type SendResult } from './send-call.ts';

interface CheckContext {
  readonly change: Change;
  readonly send: SendContext;
  /** milliseconds from the sending of the request to its response */
  readonly took: number;
}

/** Reads the resource only if its response does not show that it is new and ours. @returns the result of the call */
export async function checkCreated(
  call: Call,
  sent: CarriedOutCall,
  context: CheckContext,
): Promise<SendResult> {
  const { createsId } = call;
  const { answer, id } = sent;
  const { kind } = context.send;
  if (createsId === undefined || id === undefined || answer === undefined) return sent;
  if (kind.returnedResource === undefined) return sent;
  const address = parseAddress(createsId.address);
  const returned = kind.returnedResource(call, answer);
  if (returned !== undefined && !isSameName(kind, returned.name, address.name))
    return { is: 'unknown', why: otherResource(answer, `${quoted(returned.name)} (${id})`, address) };
  return isShownAsNew(call, returned, { ...context, answer })
    ? sent
    : verifyByRead(sent, { address, answer, id, context: context.send });
}

function isSameName({ names: { fold = (name) => name } }: Kind, one: string, other: string): boolean {
  return fold(one) === fold(other);
}

function otherResource({ method, url, status }: Answer, what: string, { name }: Address): string {
  return `${method} ${url} answered ${status} with another resource, ${what}, and may have created ${quoted(name)}: nothing more is sent for it; check that the target's "url" is the service itself`;
}

/** The created time of a resource and the time of an answer may be rounded, and come from two clocks. */
const tolerance = 2_000;

/** With its creator mark, other differences do not matter: a service may store another value than it was sent. */
function isShownAsNew(
  call: Call,
  returned: ReturnedResource | undefined,
  { change, send, took, answer }: CheckContext & { readonly answer: Answer },
): boolean {
  if (returned === undefined) return false;
  const { hasSentMark, createdAt } = returned;
  if (hasSentMark !== undefined) return hasSentMark;
  const began = (answer.answeredAt ?? Number.NEGATIVE_INFINITY) - took - tolerance;
  if (createdAt !== undefined && createdAt < began) return false;
  const { contradicted } = send.planning.checkResponses(change, new Map([[call.id, answer]]), send.ids);
  return contradicted.length === 0;
}

interface Unproved {
  readonly address: Address;
  readonly answer: Answer;
  readonly id: string;
  readonly context: SendContext;
}

/** The resource must be found by its name, under the id of the response, and belong to this stack. */
async function verifyByRead(
  sent: CarriedOutCall,
  { address, answer, id, context }: Unproved,
): Promise<SendResult> {
  const found = await findByName(address, context, true);
  const { method, url, status } = answer;
  const why = `${method} ${url} answered ${status}, but does not show that ${quoted(address.name)} (${id}) is new`;
  switch (found.is) {
    case 'ok':
      return found.id === id
        ? { ...sent, ...asFound(found.origin, why) }
        : { is: 'unknown', why: otherResource(answer, id, address) };
    case 'theirs':
      return { is: 'failed', why: `${why}; read afterwards: ${found.why}` };
    case 'absent':
      return { is: 'unknown', why: `${why}; read afterwards: it does not exist` };
    case 'unknown':
      return { is: 'unknown', why: `${why}, and it cannot be read: ${found.why}` };
  }
}

function asFound(origin: CarriedOutCall['origin'], why: string): Pick<CarriedOutCall, 'origin' | 'note'> {
  if (origin !== 'adopted') return { origin: 'created' };
  return {
    origin,
    note: `${why}: recorded as adopted, because it may have been created by another user`,
  };
}
