/** What `trueup fleet status` prints. */
import { counted, quoted } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { printable } from '../../report/view/printable.ts';
import { printJson, type Terminal, textOutput } from '../../run/terminal.ts';
import type { WaitingApply } from './apply/apply-records.ts';
import { queuedWords, type Standing, waitingWords } from './apply/standing.ts';
import type { OpenDrift } from './drift-records.ts';
import type { Undelivered } from './notify/store.ts';
import type { Quota } from './rates/quotas.ts';
import type { UnreadRepository } from './repository-reads.ts';
import type { StackStatus } from './schedule.ts';
import { keyOf, type StackId } from './stack-id.ts';
import type { PausedTarget } from './target-pauses.ts';

interface Found {
  readonly drifted?: number;
  readonly pending?: number;
}

interface FleetStatus {
  readonly now: number;
  readonly stacks: readonly StackStatus[];
  /** problems of fleet files, with the hosts of the workers that reported them */
  readonly problems: readonly { readonly message: string; readonly hosts: readonly string[] }[];
  readonly drifts: readonly OpenDrift[];
  /** the longest waiting first */
  readonly waits: readonly WaitingApply[];
  readonly pauses: readonly PausedTarget[];
  readonly unread: readonly UnreadRepository[];
  readonly undelivered: readonly Undelivered[];
  /** those that are in force now */
  readonly quotas: readonly Quota[];
}

export function printStatus(status: FleetStatus, terminal: Terminal): void {
  const { stacks, problems, waits } = status;
  const recorded = recordsOf(status);
  const count = (standing: Standing) => stacks.filter((stack) => stack.standing === standing).length;
  const summary = {
    stale: count('stale'),
    attention: count('attention'),
    working: count('working'),
    inSync: count('in-sync'),
    waitingApplies: waits.length,
  };
  printJson(terminal, (reported) =>
    renderJson({
      version: 1,
      summary,
      stacks: stacks.map((stack) => jsonOf(stack, recorded(stack))),
      ...(problems.length === 0 ? {} : { fleetFile: problems }),
      ...(status.quotas.length === 0 ? {} : { quotas: status.quotas }),
      ...troubleMembers(status),
      ...diagnosticsMember(reported),
    }),
  );
  const output = textOutput(terminal);
  if (output === undefined) return;
  const { stale, attention, working, inSync, waitingApplies } = summary;
  const waiting = waitingApplies === 0 ? '' : `; ${counted(waitingApplies, 'apply waits', 'applies wait')}`;
  output.write(
    `${counted(stacks.length, 'stack')}: ${stale} stale, ${attention} in need of attention, ${working} working, ${inSync} in sync${waiting}\n`,
  );
  for (const { message, hosts } of problems)
    output.write(`  workers on ${hosts.map(printable).join(', ')}: ${printable(message)}\n`);
  for (const line of troubleLines(status)) output.write(`  ${line}\n`);
  const width = Math.max(0, ...stacks.map((stack) => nameOf(stack).length));
  for (const stack of stacks)
    output.write(`  ${nameOf(stack).padEnd(width)}  ${describe(stack, status.now, recorded(stack))}\n`);
}

/** What is recorded of a stack besides its checks. */
interface Recorded {
  readonly drift: OpenDrift | undefined;
  readonly wait: WaitingApply | undefined;
}

function recordsOf({ drifts, waits }: FleetStatus): (stack: StackId) => Recorded {
  const driftsByStack = new Map(drifts.map((drift) => [keyOf(drift), drift]));
  const waitsByStack = new Map(waits.map((wait) => [keyOf(wait), wait]));
  return (stack) => ({ drift: driftsByStack.get(keyOf(stack)), wait: waitsByStack.get(keyOf(stack)) });
}

/** The name of a stack as text. Anybody may have named its folder, so control characters are escaped. */
export function nameOf({ repository, path }: StackId): string {
  return `${repository}/${printable(quoted(path).slice(1, -1))}`;
}

function describe(stack: StackStatus, now: number, { drift, wait }: Recorded): string {
  const { error, lastComplete, standing, isRunning, isApplying, isApplyQueued, failures } = stack;
  const { drifted = 0, pending = 0 } = (stack.summary ?? {}) as Found;
  const since = drift === undefined ? '' : ` (for ${ago(now - drift.opened)})`;
  const found = drifted > 0 ? `${counted(drifted, 'resource')} drifted${since}` : 'no drift';
  const pendingText = pending > 0 ? `, ${pending} pending` : '';
  const lastCheck =
    lastComplete === undefined
      ? 'never checked'
      : `${found}${pendingText}, checked ${ago(now - lastComplete)} ago`;
  const failed =
    error === undefined
      ? ''
      : `; ${failures === 1 ? 'the last check' : `the last ${failures} checks`} failed: ${error}`;
  const waiting =
    wait === undefined
      ? isApplyQueued
        ? `; apply ${queuedWords}`
        : ''
      : `; apply ${waitingWords(wait.for)} (for ${ago(now - wait.since)}): ${printable(wait.reason)}`;
  return `${standing === 'stale' ? 'stale: ' : ''}${lastCheck}${isApplying ? ' (an apply runs)' : isRunning ? ' (a check runs)' : ''}${failed}${waiting}`;
}

function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

function jsonOf(stack: StackStatus, { drift, wait }: Recorded) {
  const { repository, path, standing, labels, isRunning, isApplyQueued, failures } = stack;
  const { lastComplete, nextDue, commit, error } = stack;
  const { drifted, pending } = (stack.summary ?? {}) as Found;
  return {
    ...{ repository, path, is: standing, running: isRunning, failures },
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(lastComplete === undefined ? {} : { lastComplete: new Date(lastComplete).toISOString() }),
    nextDue: new Date(nextDue).toISOString(),
    ...(commit === undefined ? {} : { commit }),
    ...(error === undefined ? {} : { error }),
    ...(drifted === undefined ? {} : { drifted }),
    ...(drift === undefined ? {} : { driftedSince: iso(drift.opened), driftChanged: iso(drift.changed) }),
    ...(pending === undefined ? {} : { pending }),
    ...(isApplyQueued ? { applyQueued: true } : {}),
    ...(wait === undefined ? {} : { apply: waitMember(wait) }),
  };
}

function waitMember({ for: waitsFor, since, reason, until }: WaitingApply) {
  return { waitsFor, since: iso(since), reason, ...(until === undefined ? {} : { until: iso(until) }) };
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Repositories that cannot be read, targets that are paused, and messages that cannot be sent. */
function troubleLines({ now, unread, pauses, undelivered }: FleetStatus): string[] {
  return [
    ...unread.map(({ name, reason, lastRead, lastTry }) => {
      // Without stacks, `now` is 0.
      const read =
        lastRead === undefined ? 'never read' : `last read ${ago(Math.max(now, lastTry) - lastRead)} ago`;
      return `repository ${printable(name)} cannot be read (${read}): ${printable(reason)}`;
    }),
    ...pauses.map(
      ({ address, since, reason }) =>
        `target ${printable(address)} is paused for ${ago(now - since)}: ${printable(reason)}`,
    ),
    ...undelivered.map(({ channel, about, since, error }) => {
      const what = about === undefined ? 'messages' : `the message about ${printable(about)}`;
      return `${what} to ${quoted(channel)} cannot be sent for ${ago(now - since)}: ${printable(error)}`;
    }),
  ];
}

function troubleMembers({ unread, pauses, undelivered }: FleetStatus) {
  return {
    ...(unread.length === 0
      ? {}
      : {
          unreadRepositories: unread.map(({ name, reason, lastTry, lastRead }) => ({
            ...{ repository: name, reason, lastTry: iso(lastTry) },
            ...(lastRead === undefined ? {} : { lastRead: iso(lastRead) }),
          })),
        }),
    ...(pauses.length === 0
      ? {}
      : {
          pausedTargets: pauses.map(({ address, reason, since, nextProbe }) => ({
            ...{ address, reason, since: iso(since), nextProbe: iso(nextProbe) },
          })),
        }),
    ...(undelivered.length === 0
      ? {}
      : {
          undelivered: undelivered.map(({ since, nextTry, ...rest }) => ({
            ...{ ...rest, since: iso(since) },
            ...(nextTry === undefined ? {} : { nextTry: iso(nextTry) }),
          })),
        }),
  };
}
