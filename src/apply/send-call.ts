/**
 * Sends one call once: replaces its references by ids and secrets, which are read only here. If the response to a create was lost,
 * looks up the resource by name.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { type Call, type CallValue, IdReference, isCallObject, SecretReference } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import { messageOf } from '../model/error-message.ts';
import {
  type NextAttempt,
  type Answer,
  describeAnswer,
  WireError,
  type WireRequest,
  type Writer,
} from '../model/http.ts';
import { isJsonObject, type Json, sameJson } from '../model/json.ts';
import type { Kind, Session } from '../model/kind.ts';
import type { Origin } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type LiveResource, ownOwnershipTag, type Spec } from '../model/resource.ts';
import type { SecretSource } from '../model/stack.ts';
import type { PlanResult } from '../plan/build-plan.ts';

interface Resolver {
  idOf(address: AddressText): string | undefined;
  /** @throws with a message for the user when the source holds nothing */
  readSecret(source: SecretSource): Promise<string>;
}

/** @throws when an id is unknown although the call that creates it succeeded: a bug; or when a secret cannot be read */
export async function resolveCall(call: Call, resolver: Resolver): Promise<WireRequest> {
  const path = call.path.map((part) =>
    encodeURIComponent(typeof part === 'string' ? part : idOf(part.$id, resolver)),
  );
  const secrets: string[] = [];
  const collecting: Resolver = {
    ...resolver,
    readSecret: async (source) => {
      const secret = await resolver.readSecret(source);
      secrets.push(secret);
      return secret;
    },
  };
  const body = call.body === undefined ? undefined : await resolveValue(call.body, collecting);
  return {
    method: call.method,
    path: `/${path.join('/')}`,
    ...(isJsonObject(body) ? { body } : {}),
    repeatable: call.repeatable,
    // The service may repeat the request in an error, so the connection must know what to redact.
    ...(secrets.length === 0 ? {} : { secrets }),
  };
}

function idOf(address: AddressText, resolver: Resolver): string {
  const id = resolver.idOf(address);
  if (id === undefined) throw new Error(`no id is known for ${address}`);
  return id;
}

async function resolveValue(value: CallValue, resolver: Resolver): Promise<Json> {
  if (value instanceof IdReference) return idOf(value.$id, resolver);
  if (value instanceof SecretReference) return resolver.readSecret(value.$secret);
  if (Array.isArray(value))
    return Promise.all((value as readonly CallValue[]).map((item) => resolveValue(item, resolver)));
  if (!isCallObject(value)) return value as null | boolean | number | string;
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => [key, await resolveValue(member, resolver)] as const),
  );
  return Object.fromEntries(members);
}

export type SendResult =
  | CarriedOutCall
  /** another user had done the same before */
  | { readonly is: 'already' }
  | Failed
  /** sent, and it is not known whether it was carried out */
  | {
      readonly is: 'unknown';
      readonly why: string;
      /** answered with success, so that it is not sent again: it may have created a resource with another name */
      readonly answered?: true;
    };

interface CarriedOutCall {
  readonly is: 'ok';
  /** the id of the created resource */
  readonly id?: string;
  /** after a lost create: `adopted` when nothing proves that this create made the resource */
  readonly origin?: Origin;
  /** what a reader of the outcome should know */
  readonly note?: string;
  /** absent when the response was lost and the resource was looked up instead */
  readonly answer?: Answer;
}

export interface Failed {
  readonly is: 'failed';
  readonly why: string;
  /** the request was never sent */
  readonly unsent?: true;
  /** the call is repeatable, and after the status of its response, such as 500, it may have been carried out */
  readonly inDoubt?: true;
  /** the status of a refusal, or an unexpected one such as 202 or 302; the service may have carried out the request nevertheless */
  readonly refusal?: number;
}

export interface SendContext {
  readonly kind: Kind;
  readonly session: Session;
  readonly planning: Pick<PlanResult, 'isOwnedByAnother' | 'addressNow'>;
  readonly writer: Writer;
  /** id of the resource that the call is about, once it has one */
  readonly id?: string | undefined;
  /** the declared value of the field of the creator mark, if a manifest sets it: it proves later who sent the create */
  readonly declaredMark: Spec;
  /** once aborted, nothing more is sent, but a lost create that was sent is still looked up */
  readonly stop?: AbortSignal;
  /** milliseconds since 1970 */
  now(): number;
  /** Waits before a lost create is looked up. @param milliseconds duration */
  pause(milliseconds: number): Promise<void>;
}

function resultOfRefusal(answer: Answer, { refusalHints, success }: Call): Failed {
  const { method, url, status } = answer;
  const hint = refusalHints?.[status];
  const described =
    status >= 200 && status < 300
      ? `${method} ${url} answered ${status} instead of ${success.join(' or ')}`
      : describeAnswer(answer);
  return { is: 'failed', why: hint === undefined ? described : `${described}; ${hint}`, refusal: status };
}

/** A refusal of the request itself; not 429 (wait) or 401 (not authenticated). */
export function isRefusal({ refusal }: Failed): boolean {
  return refusal !== undefined && refusal >= 400 && refusal !== 401 && refusal !== 429;
}

/** A status such as 202 or 302 that is neither the expected success nor a refusal: the request may have been carried out. */
export function isUnexpected({ refusal }: Failed): boolean {
  return refusal !== undefined && refusal < 400;
}

/** One attempt that was made. */
export interface Sent {
  readonly result: SendResult;
  /** present where another attempt is allowed */
  readonly again?: NextAttempt | undefined;
  /** the request reached the service or its proxy: even a refused one may have been carried out */
  readonly reached: boolean;
  /** its response, or the lack of one, does not exclude that it was carried out */
  readonly mayHaveActed: boolean;
}

/**
 * Sends one attempt of a call. Never rejects: an error becomes the result of the call.
 * @param about.isRepeated an earlier attempt reached the service, too: the response may be a consequence of that attempt's success
 */
export async function sendOnce(
  call: Call,
  request: WireRequest,
  about: { readonly context: SendContext; readonly address: Address; readonly isRepeated: boolean },
): Promise<Sent> {
  const { context, isRepeated } = about;
  try {
    const received = await context.writer.send(
      context.stop === undefined ? request : { ...request, stop: context.stop },
    );
    const { again, ...response } = received;
    const answer: Answer = isRepeated ? { ...response, repeated: true } : response;
    const result = await resultOf(call, answer, about);
    const isUncertain =
      mayHaveActed(answer) || result.is === 'unknown' || (result.is === 'failed' && isUnexpected(result));
    return { again, reached: answer.status !== 401, mayHaveActed: isUncertain, result };
  } catch (error) {
    const wasSent = !(error instanceof WireError) || error.sent;
    const why = messageOf(error);
    const again = error instanceof WireError ? error.again : undefined;
    return {
      again,
      reached: wasSent,
      mayHaveActed: wasSent,
      result: wasSent ? { is: 'unknown', why } : { is: 'failed', why, unsent: true },
    };
  }
}

async function resultOf(
  call: Call,
  answer: Answer,
  about: { readonly context: SendContext; readonly address: Address },
): Promise<SendResult> {
  if (call.success.includes(answer.status)) return resultOfSuccess(call, answer, about.context);
  if (call.already?.includes(answer.status)) return explainExisting(call, answer, about);
  if (!mayHaveActed(answer)) return resultOfRefusal(answer, call);
  const why = describeAnswer(answer);
  return call.repeatable ? { is: 'failed', why, inDoubt: true } : { is: 'unknown', why };
}

function mayHaveActed({ status }: Answer): boolean {
  return status >= 500 || status === 408;
}

/** A repeated call may find that its earlier attempt succeeded; that counts as ours only if the kind can prove it. */
async function explainExisting(
  call: Call,
  answer: Answer,
  { context, address }: { readonly context: SendContext; readonly address: Address },
): Promise<SendResult> {
  if (answer.repeated !== true) return { is: 'already' };
  const lost = await recoverAnswer(call, context, address);
  return lost === undefined ? { is: 'already' } : { is: 'ok', answer: lost };
}

/** The response that an earlier attempt would have got, if the kind can prove that this attempt did the work. */
export async function recoverAnswer(
  call: Call,
  { kind, session, id }: SendContext,
  address: Address,
): Promise<Answer | undefined> {
  const about = { address, ...(id === undefined ? {} : { id }) };
  return kind.recoverAnswer?.(session, call, about).catch(() => undefined);
}

/** A create whose response does not show the created resource counts as a create without a response. */
function resultOfSuccess({ createsId }: Call, answer: Answer, context: SendContext): SendResult {
  if (createsId === undefined) return { is: 'ok', answer };
  const id = at(answer.body, createsId.pointer);
  if (typeof id !== 'string')
    return { is: 'unknown', answered: true, why: `${describeAnswer(answer)}, but its body contains no id` };
  const listed = context.planning.addressNow(parseAddress(createsId.address), id);
  const returned = otherResource(createsId, answer, context) ?? (listed && quoted(listed));
  if (returned === undefined) return { is: 'ok', id, answer };
  const { method, url, status } = answer;
  return {
    is: 'unknown',
    answered: true,
    why: `${method} ${url} answered ${status} with another resource, ${returned} (${id})`,
  };
}

/** The resource in the response to a create, if it is another than the one to create. */
function otherResource(
  { address }: NonNullable<Call['createsId']>,
  answer: Answer,
  { kind, session }: SendContext,
): string | undefined {
  if (kind.returnedResource === undefined) return undefined;
  const returned = kind.returnedResource(answer);
  if (returned === undefined) return 'one without a name';
  const { name, organization } = returned;
  const { fold = (text: string) => text } = kind.names;
  const isElsewhere =
    organization !== null && organization.toLowerCase() !== session.target.organization?.toLowerCase();
  if (isElsewhere) return `${quoted(name)} of organization ${quoted(organization)}`;
  return fold(name) === fold(parseAddress(address).name) ? undefined : quoted(name);
}

/** @param pointer JSON pointer without escapes, `/data/id` */
function at(body: Json, pointer: string): Json | undefined {
  let value: Json | undefined = body;
  for (const key of pointer.split('/').slice(1)) value = isJsonObject(value) ? value[key] : undefined;
  return value;
}

type FindResult =
  | CarriedOutCall
  | { readonly is: 'absent' }
  | { readonly is: 'theirs'; readonly why: string }
  | { readonly is: 'unknown'; readonly why: string };

/** Looks up the resource of a create by name. @param mayHaveActed whether an attempt of this create may have been carried out */
export async function findByName(
  address: Address,
  context: SendContext,
  mayHaveActed: boolean,
): Promise<FindResult> {
  const { kind, session } = context;
  try {
    const live = await kind.readOne(session, address);
    if (live === undefined) return { is: 'absent' };
    const { evidence } = live;
    const isTagged = ownOwnershipTag(evidence)?.stack === session.stack;
    const isMarked = mayHaveActed && evidence.creatorStack === session.stack;
    const isOurs = (isTagged || isMarked) && !context.planning.isOwnedByAnother(live);
    if (!isOurs)
      return {
        is: 'theirs',
        why: `${quoted(formatAddress(address))} exists, and does not belong to this stack`,
      };
    const origin = isThisCreate(live, context, mayHaveActed) ? 'created' : 'adopted';
    return { is: 'ok', origin, ...(live.id === undefined ? {} : { id: live.id }) };
  } catch (error) {
    return { is: 'unknown', why: messageOf(error) };
  }
}

/**
 * Whether our create made this resource: it has our creator mark, or the declared value of the mark's field. The
 * ownership tag and all other values prove nothing, because a copy of the resource has them, too. Without the tag, a stack with
 * the same name in another repository may have created it, unless an attempt of ours may have been carried out.
 */
export function isThisCreate(
  live: LiveResource,
  {
    kind,
    session,
    planning,
    declaredMark,
  }: Pick<SendContext, 'kind' | 'session' | 'declaredMark' | 'planning'>,
  mayHaveActed: boolean,
): boolean {
  const { spec, evidence } = live;
  if (evidence.ownershipTag === undefined && !mayHaveActed) return false;
  if (planning.isOwnedByAnother(live)) return false;
  if (evidence.creatorStack === session.stack) return true;
  // Resources of a kind without a creator mark are never copied, so the ownership tag counts.
  if (!Object.values(kind.fields).some(({ isCreatorMark }) => isCreatorMark))
    return mayHaveActed && ownOwnershipTag(evidence)?.stack === session.stack;
  const declared = Object.entries(declaredMark);
  return declared.length > 0 && declared.every(([name, value]) => sameJson(spec[name], value));
}

/** The declared value of the creator mark's field, where a create sends one. */
export function declaredMark({ action, fields }: Change, kind: Kind): Spec {
  if (action !== 'create') return {};
  return Object.fromEntries(
    fields.flatMap(({ path: [name = ''], after }) =>
      after !== undefined && kind.fields[name]?.isCreatorMark ? [[name, after] as const] : [],
    ),
  );
}
