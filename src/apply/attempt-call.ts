/**
 * Sends one call, in as many attempts as are needed and allowed. Before each attempt the resource is read and compared with the
 * plan, and the lock is checked. A create is looked up by name before it is sent again.
 */
import { type Address, parseAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import { type Change, type OutcomeKind, runStopped } from '../model/change.ts';
import { type NextAttempt, type Answer, untilAborted, type WireRequest } from '../model/http.ts';
import { LedgerConflict, LockLost } from '../model/ledger.ts';
import type { ResourceReads, Verdict } from './check-before-write.ts';
import { GuardedRequest, type LockGuard } from './keep-ledger.ts';
import { maxAge } from './shared-reads.ts';
import {
  type Failed,
  findByName,
  isRefusal,
  recoverAnswer,
  type SendContext,
  sendOnce,
  type SendResult,
  type Sent,
} from './send-call.ts';

interface AttemptContext {
  readonly change: Change;
  readonly lastRead: ResourceReads;
  readonly send: SendContext;
  readonly lockGuard?: LockGuard | undefined;
  /** @throws when a reference of the call cannot be resolved */
  resolve(): Promise<WireRequest>;
}

/** The result of a call; `stale`: not sent, because the read before it showed that live had changed after the plan. */
export type AttemptResult = SendResult | { readonly is: 'stale'; readonly why: string };

/** The failed attempts of a call so far. */
interface EarlierAttempts {
  readonly attempts: number;
  readonly again: NextAttempt | undefined;
  /** one of them reached the service or its proxy */
  readonly reached: boolean;
  /** one of them may have been carried out */
  readonly mayHaveActed: boolean;
  readonly last: Exclude<SendResult, { is: 'ok' | 'already' }>;
}

/** The maximum number of attempts of a create whose responses are lost; it is looked up in between. */
const createAttempts = 4;

/** @throws when a reference of the call cannot be resolved */
export async function attemptCall(call: Call, context: AttemptContext): Promise<AttemptResult> {
  let earlier: EarlierAttempts | undefined;
  let allowedAge = maxAge;
  for (;;) {
    const decided = await beforeAttempt(call, context, earlier);
    if (decided !== 'send') return decided;
    const guarded = new GuardedRequest(context.lockGuard, () => context.lastRead.age(call) <= allowedAge);
    const sent = await send(call, context, { earlier, guarded });
    if (guarded.mustRecheck) {
      allowedAge = context.lastRead.allowedNext(allowedAge);
      continue;
    }
    const { result } = sent;
    if (result.is === 'ok' || result.is === 'already') return result;
    const next = withAttempt(sent, result, earlier);
    if (!mayFollow(call, next)) return finalResult(next);
    earlier = next;
    context.lastRead.failed();
    const isStopped = await waitFor(next, context);
    if (isStopped && !(isCreate(call) && next.mayHaveActed)) return finalResult(next);
  }
}

async function send(
  call: Call,
  { change, lastRead, send: context, resolve }: AttemptContext,
  { earlier, guarded }: { readonly earlier: EarlierAttempts | undefined; readonly guarded: GuardedRequest },
): Promise<Sent> {
  const request = await resolve();
  const history = earlier?.again?.history;
  return sendOnce(
    call,
    {
      ...request,
      repeatable: call.repeatable || isCreate(call),
      ...(history === undefined ? {} : { history }),
      permit: async () => {
        await guarded.pass();
        lastRead.sends(call);
      },
    },
    { context, address: change.address, isRepeated: earlier?.reached ?? false },
  );
}

/** A call that creates a resource with a unique name, by which it can be looked up. */
function isCreate({ createsId, repeatable }: Call): boolean {
  return createsId !== undefined && !repeatable;
}

/** Whether the change is a creation and this call makes the resource, which may have no id. */
export function createsResource({ createsId }: Call, { action, calls }: Change): boolean {
  const mayCreate = createsId !== undefined || calls.every((call) => call.createsId === undefined);
  return action === 'create' && mayCreate;
}

/** Checks whether an attempt may be sent. @returns `send`, or the result of the call if nothing may be sent */
async function beforeAttempt(
  call: Call,
  context: AttemptContext,
  earlier: EarlierAttempts | undefined,
): Promise<AttemptResult | 'send'> {
  if (earlier !== undefined && isCreate(call)) return beforeCreateAgain(call, context, earlier);
  const { stop } = context.send;
  const isStopped = () => stop?.aborted ?? false;
  const verdict = isStopped()
    ? undefined
    : await untilAborted(context.lastRead.before(call, earlier !== undefined), stop).catch(() => undefined);
  const isUndecided = verdict === undefined || verdict.is === 'send' || verdict.is === 'failed';
  if (verdict === undefined || (isStopped() && isUndecided))
    return earlier === undefined ? unsent() : finalResult(earlier);
  if (verdict.is === 'send') return 'send';
  return earlier === undefined ? firstVerdict(verdict) : afterFailure(call, context, { earlier, verdict });
}

/** For a run that was stopped: the caller adds the reason. */
function unsent(): Failed {
  return { is: 'failed', why: 'not sent', unsent: true };
}

function firstVerdict(verdict: Exclude<Verdict, { is: 'send' }>): AttemptResult {
  return verdict.is === 'done' ? { is: 'already' } : verdict;
}

/** The result of the call, if the check after a failed attempt forbids another one. */
async function afterFailure(
  call: Call,
  { change, send: context }: AttemptContext,
  {
    earlier,
    verdict,
  }: { readonly earlier: EarlierAttempts; readonly verdict: Exclude<Verdict, { is: 'send' }> },
): Promise<AttemptResult> {
  const { mayHaveActed, reached, last } = earlier;
  if (verdict.is === 'done') {
    const answer = reached ? await recoverAnswer(call, context, change.address) : undefined;
    if (answer !== undefined) return { is: 'ok', answer: { ...answer, repeated: true } };
    if (!mayHaveActed) return { is: 'already' };
    return change.action === 'create' ? foundExisting(last.why) : { is: 'ok' };
  }
  const why = `${last.why}; not sent again: ${verdict.why}`;
  if (!mayHaveActed) return { is: verdict.is, why };
  // The live resource is not what the create sent, so no later plan may count it as ours.
  return change.action === 'create' && verdict.is === 'stale'
    ? { is: 'failed', why }
    : { is: 'unknown', why };
}

/** Nothing proves that a failed attempt created the resource: another user may have done so. */
function foundExisting(why: string): SendResult {
  const note = `found as declared after a failed attempt (${why}): recorded as adopted, because it may have been created by another user`;
  return { is: 'ok', origin: 'adopted', note };
}

/** Looks a create up by name before it is sent again: even a refusal ("the name is taken") may mean that an attempt succeeded. */
async function beforeCreateAgain(
  call: Call,
  { change, lastRead, send: context }: AttemptContext,
  earlier: EarlierAttempts,
): Promise<AttemptResult | 'send'> {
  const { attempts, mayHaveActed, last } = earlier;
  // A lost request may still be on its way: wait, so that the look-up sees its effect.
  if (mayHaveActed) await context.pause(250 * 2 ** Math.min(attempts - 1, 4));
  const found = await findByName(createdBy(call, change), context, mayHaveActed);
  const isAnswered = last.is === 'failed' || last.answered === true;
  const prefix = isAnswered ? `${last.why}; looked up by name afterwards: ` : '';
  switch (found.is) {
    case 'ok':
      return found;
    case 'theirs':
      return { is: 'failed', why: `${prefix}${found.why}` };
    case 'unknown':
      return mayHaveActed || isRefused(last)
        ? { is: 'unknown', why: `${prefix || lookupFailed}${found.why}` }
        : { is: 'failed', why: `${prefix}${found.why}` };
    case 'absent':
      return whenAbsent(earlier, lastRead, context.stop);
  }
}

const lookupFailed = 'its response was lost, and the lookup by name failed: ';

function createdBy({ createsId }: Call, { address }: Change): Address {
  return createsId === undefined ? address : parseAddress(createsId.address);
}

async function whenAbsent(
  { attempts, again, last, mayHaveActed }: EarlierAttempts,
  lastRead: ResourceReads,
  stop: AbortSignal | undefined,
): Promise<AttemptResult | 'send'> {
  const why = `${last.why}; looked up by name afterwards: it does not exist`;
  if (last.is === 'unknown' && last.answered) return { is: 'failed', why, inDoubt: true };
  const isFinal = again === undefined && last.is === 'failed';
  if (isFinal || (mayHaveActed && attempts >= createAttempts)) return { is: 'failed', why };
  const verdict = await lastRead.whenAbsent();
  if (verdict.is === 'stale')
    return { is: mayHaveActed ? 'failed' : 'stale', why: `${why}; not sent again: ${verdict.why}` };
  if (!stop?.aborted) return 'send';
  // The request may still arrive: one read does not prove that it will not.
  const notAgain = `${why}; not sent again: ${whyStopped(stop)}`;
  return mayHaveActed ? { is: 'failed', why: notAgain, inDoubt: true } : { is: 'failed', why, unsent: true };
}

function isRefused(last: EarlierAttempts['last']): boolean {
  return last.is === 'failed' && isRefusal(last);
}

function withAttempt(
  sent: Sent,
  last: EarlierAttempts['last'],
  earlier: EarlierAttempts | undefined,
): EarlierAttempts {
  return {
    attempts: (earlier?.attempts ?? 0) + 1,
    again: sent.again,
    reached: sent.reached || (earlier?.reached ?? false),
    mayHaveActed: sent.mayHaveActed || (earlier?.mayHaveActed ?? false),
    last,
  };
}

/** Whether another attempt follows, or at least another lookup of a resource that a create may have made. */
function mayFollow(call: Call, { again, mayHaveActed, attempts, last }: EarlierAttempts): boolean {
  if (again !== undefined) return true;
  if (!isCreate(call)) return false;
  // A create may be refused because an earlier attempt succeeded.
  return last.is === 'unknown' || (attempts > 1 && isRefused(last)) || (mayHaveActed && attempts > 1);
}

/** @returns whether the run was stopped during the wait */
async function waitFor({ again }: EarlierAttempts, { send: { stop } }: AttemptContext): Promise<boolean> {
  const ended = again?.wait().then(
    () => false,
    () => true,
  );
  return (await ended) === true || (stop?.aborted ?? false);
}

/** The result of a call that is not sent again. A call that only got the response to wait (429) was not carried out. */
function finalResult({ last, mayHaveActed, again }: EarlierAttempts): SendResult {
  const isWaiting = last.is === 'failed' && (last.unsent === true || again !== undefined) && !last.inDoubt;
  if (!isWaiting) return last;
  return mayHaveActed ? { is: 'unknown', why: last.why } : { is: 'failed', why: last.why, unsent: true };
}

/** How one call of a change ended. */
export interface CallEnd {
  readonly kind: OutcomeKind;
  readonly detail?: string;
  readonly inDoubt?: true;
  /** refused, and the refusal was not verified */
  readonly refused?: true;
  /** its response was a failure, but a read showed that it was carried out */
  readonly foundTrue?: true;
  /** it failed, but the resource exists and is ours; it differs from the request, or could not be verified */
  readonly isThere?: true;
  /** carried out, but the service did not keep the ownership tag, or a child that the same call wrote */
  readonly lost?: 'tag' | 'child' | undefined;
  /** the response to a call that was carried out, unless it was lost */
  readonly answer?: Answer;
}

/** From best to worst. */
const severity: readonly OutcomeKind[] = ['unchanged', 'applied', 'skipped', 'stale', 'failed', 'unknown'];

/** A call that was carried out although its response was a failure is less severe than one that was not carried out. */
export function severityOf({ kind, foundTrue }: CallEnd): number {
  return foundTrue ? severity.indexOf('applied') + 0.5 : severity.indexOf(kind);
}

export function isDone({ kind, foundTrue }: CallEnd): boolean {
  return kind === 'applied' || foundTrue === true;
}

/** Whether the call may have been carried out by an attempt whose request id is not known. */
export function lacksRequestId(end: CallEnd): boolean {
  return isDone(end) && (end.answer === undefined || end.answer.repeated === true);
}

/** Whether the end is worse than a call that was carried out. */
export function isBroken({ kind }: CallEnd): boolean {
  return severity.indexOf(kind) > severity.indexOf('applied');
}

/** Why a run sends nothing more, as a clause for its outcomes. @param stop aborted */
export function whyStopped({ reason }: AbortSignal): string {
  if (reason instanceof LockLost) return reason.clause;
  if (reason instanceof LedgerConflict) return 'another run has written the ledger';
  return runStopped;
}
