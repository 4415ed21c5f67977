/**
 * For the process that a worker of a fleet starts to check or apply one stack. The process shares rate limits with all others: it asks its
 * worker, and the worker asks the database, whose address this process does not know. A token is sent as a hash.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TargetOptions } from '../api/open-target.ts';
import type { RatedAnswer } from '../api/transport/rate-controller.ts';
import type { SharedRate } from '../api/transport/shared-rate.ts';
import type { Approval } from '../model/approval.ts';
import type { Reader } from '../model/http.ts';
import { memberOf } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { Service, Target } from '../model/stack.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost, FleetApply, FleetProcess } from './host.ts';

/** Whose limit a message is about. */
interface RateOwner {
  /** the origin of the API */
  readonly address: string;
  /** a hash of the token, or of the role of a login */
  readonly identity: string;
}

/** From the process to its worker, about limits. The worker answers those with an id. */
export type RateMessage = RateOwner &
  (
    | { readonly do: 'take'; readonly id: number; readonly count: number; readonly late?: number }
    | { readonly do: 'wants-user'; readonly id: number }
    | { readonly do: 'pause'; readonly milliseconds: number }
    | { readonly do: 'observe'; readonly answer: RatedAnswer | undefined }
    | { readonly do: 'set-user'; readonly user: string | undefined }
  );

/** From the process to its worker, about the right to write, and about who approved. */
export type ApplyMessage =
  | { readonly do: 'may-write'; readonly id: number }
  | { readonly do: 'approved'; readonly by: readonly string[] };

export type FleetMessage = RateMessage | ApplyMessage;

/** The worker's answer about limits. Only the answer to `take` has start times. */
export interface RateAnswer {
  readonly id: number;
  readonly wantsUser?: boolean;
  readonly count: number;
  /** milliseconds to the first start time */
  readonly wait: number;
  /** milliseconds between two start times */
  readonly apart: number;
}

export interface ApplyAnswer {
  readonly id: number;
  /** whether the attempt of this process is still the newest one; undefined while the database does not answer */
  readonly mayWrite: boolean | undefined;
}

type FleetAnswer = RateAnswer | ApplyAnswer;

type ParentChannel = Pick<NodeJS.Process, 'connected' | 'env' | 'kill' | 'on' | 'pid'> & {
  send?(message: FleetMessage): boolean;
  readonly channel?: { ref(): void; unref(): void } | null | undefined;
};

/** The variables that a worker sets. Stacks cannot name them, and programs that this process starts do not get them. */
export const fleetVariables = {
  /** name of the repository */
  repository: 'TRUEUP_FLEET_CHECK',
  /** origins, with spaces between them */
  targets: 'TRUEUP_FLEET_TARGETS',
  /** an `ApplyGrant` as JSON */
  apply: 'TRUEUP_FLEET_APPLY',
  codeHostToken: 'TRUEUP_FLEET_CODE_HOST_TOKEN',
} as const;

/** The variables that fleet.yaml grants to stacks, with spaces between them. Others, such as the login of a proxy, are for programs. */
export const grantedVariables = 'TRUEUP_FLEET_VARIABLES';

/** What a worker passes to the process of an apply. */
export type ApplyGrant = Pick<FleetApply, 'run' | 'freeze'>;

/** Undefined in a process that no worker started. @param now milliseconds of a clock that never goes back */
export function fleetProcessOf(parent: ParentChannel, now: () => number): FleetProcess | undefined {
  const { env } = parent;
  if (!parent.connected || env[fleetVariables.repository] === undefined) return undefined;
  const { targets, apply, codeHostToken } = takeVariables(env);
  const channel = new WorkerChannel(parent);
  return {
    targets: targets === undefined ? undefined : new Set(targets.split(' ')),
    wantsUser: async (address, identity) => {
      const { wantsUser = false } = await channel.ask<RateAnswer>({ do: 'wants-user', address, identity });
      return wantsUser;
    },
    setUser: (address, identity, user) => channel.send({ do: 'set-user', address, identity, user }),
    sharedRate: (address, identity) => ({
      take: (count, late) => channel.ask<RateAnswer>({ do: 'take', count, late, address, identity }),
      pause: (milliseconds) => channel.send({ do: 'pause', milliseconds, address, identity }),
      observe: (answer) => channel.send({ do: 'observe', answer, address, identity }),
    }),
    apply: apply === undefined ? undefined : applyOf(JSON.parse(apply), { codeHostToken, channel, now }),
  };
}

function takeVariables(env: NodeJS.ProcessEnv) {
  const taken = {
    targets: env[fleetVariables.targets],
    apply: env[fleetVariables.apply],
    codeHostToken: env[fleetVariables.codeHostToken],
  };
  for (const name of Object.values(fleetVariables)) delete env[name];
  return taken;
}

/** A message that will be answered, before it has its number. */
type Question = FleetMessage extends infer M
  ? M extends { readonly id: number }
    ? Omit<M, 'id'>
    : never
  : never;

class WorkerChannel {
  readonly #parent: ParentChannel;
  readonly #waiting = new Map<number, (answer: FleetAnswer) => void>();
  #last = 0;
  readonly #gone = new AbortController();

  constructor(parent: ParentChannel) {
    this.#parent = parent;
    parent.on('message', (answer: FleetAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
      if (this.#waiting.size === 0) parent.channel?.unref();
    });
    // Without its worker, the results of this process go nowhere, and its requests may not start.
    parent.on('disconnect', () => {
      this.#gone.abort();
      parent.kill(parent.pid, 'SIGTERM');
    });
    // An open channel must not keep the process alive, but a question must.
    parent.channel?.unref();
  }

  /** aborts when the worker has ended: questions are no longer answered */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  send(message: FleetMessage): void {
    if (this.#parent.connected) this.#parent.send?.(message);
  }

  ask<A extends FleetAnswer>(question: Question): Promise<A> {
    this.#last += 1;
    const id = this.#last;
    const answered = new Promise<A>((resolve) => this.#waiting.set(id, (answer) => resolve(answer as A)));
    this.#parent.channel?.ref();
    this.send({ ...question, id } as FleetMessage);
    return answered;
  }
}

/**
 * Milliseconds for which the right to write stays valid when no later answer arrives. It is shorter than `leaseSeconds`, for which the
 * worker gives the stack to no other attempt.
 */
const validity = 15_000;

/** Milliseconds for which a write waits for a database that does not answer. */
const longestWait = 300_000;

interface Applying {
  readonly codeHostToken: string | undefined;
  readonly channel: WorkerChannel;
  readonly now: () => number;
}

function applyOf({ run, freeze }: ApplyGrant, { codeHostToken, channel, now }: Applying): FleetApply {
  let validUntil = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<boolean | undefined> => {
    const asked = now();
    const gone = new Promise<undefined>((resolve) => {
      if (channel.gone.aborted) resolve(undefined);
      channel.gone.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const answer = await Promise.race([channel.ask<ApplyAnswer>({ do: 'may-write' }), gone]);
    if (answer?.mayWrite === true) validUntil = asked + validity;
    return answer?.mayWrite;
  };
  return {
    ...{ run, freeze, codeHostToken },
    mayWrite: async () => {
      for (const began = now(); ; await pause(1000)) {
        const mayWrite = await ask();
        if (mayWrite !== undefined) return mayWrite;
        if (now() < validUntil) return true;
        if (channel.gone.aborted || now() - began > longestWait) return false;
      }
    },
    approvedBy: (by) => channel.send({ do: 'approved', by }),
  };
}

// What a run uses: shared limits, users of tokens, allowed addresses and freezes.

/** The limit of a token. For a login it is that of the role, because each login gets a new token. The embedded service has no limit. */
export async function sharedRateOf(
  target: Target,
  token: TargetOptions['token'],
  { fleet }: Pick<CliHost, 'fleet'>,
): Promise<SharedRate | undefined> {
  const { url, requestsPerSecond } = target;
  if (fleet === undefined || url === 'embedded') return undefined;
  const shared = fleet.sharedRate(new URL(url).origin, await ownerOf(target, token));
  if (requestsPerSecond === undefined) return shared;
  // The target's own limit starts requests later: start times that were taken in advance would be lost to all other processes.
  return { ...shared, take: (_, late) => shared.take(1, late) };
}

/** Where each service shows the user of a token, and in which member of `data` (wire/cluster-auth 2.9). */
const users: Readonly<Record<Service, { readonly path: string; readonly member: string }>> = {
  workspaces: { path: '/account/details', member: 'id' },
  // Empty for a token that belongs to no user, such as a root token.
  'cluster-auth': { path: '/auth/token/lookup-self', member: 'entity_id' },
};

/** Reports the user of a token to the worker. A login does so itself (`reportingUser`). */
export async function reportUser(
  target: Target,
  token: TargetOptions['token'],
  { reader, fleet }: Pick<CliHost, 'fleet'> & { readonly reader: Reader },
): Promise<void> {
  const { url, service } = target;
  if (fleet === undefined || url === 'embedded' || typeof token !== 'function') return;
  const identity = await ownerOf(target, token);
  const { origin } = new URL(url);
  if (!(await fleet.wantsUser(origin, identity))) return;
  const { path, member } = users[service];
  // If the service does not answer, or is sealed, the check reports that when it reads.
  const answer = await reader.get(path).catch(() => undefined);
  if (answer === undefined || answer.status >= 500) return;
  const user = answer.status === 200 ? memberOf(memberOf(answer.body, 'data'), member) : undefined;
  fleet.setUser(origin, identity, typeof user === 'string' && user !== '' ? user : undefined);
}

/** The token, or a login that reports the user of its tokens to the worker: service accounts that share a role are different users. */
export function reportingUser(
  target: Target,
  token: TargetOptions['token'],
  { fleet }: Pick<CliHost, 'fleet'>,
): TargetOptions['token'] {
  if (fleet === undefined || target.url === 'embedded' || typeof token === 'function') return token;
  const { origin } = new URL(target.url);
  const identity = identityOf(loginText(target));
  return { login: { ...token.login, onUser: (user) => fleet.setUser(origin, identity, user) } };
}

async function ownerOf(target: Target, token: TargetOptions['token']): Promise<string> {
  return identityOf(typeof token === 'function' ? await token('/') : loginText(target));
}

function loginText({ namespace = '', token }: Target): string {
  if (token === undefined || !('login' in token)) return '';
  return [namespace, token.login.mount, token.login.role].join(' ');
}

function identityOf(user: string): string {
  return createHash('sha256').update(user).digest('hex');
}

/** Refuses a target whose address fleet.yaml does not allow. Called before its token is read, which must not be sent there. */
export function refuseForFleet({ name, url }: Target, { fleet }: Pick<CliHost, 'fleet'>): void {
  if (fleet?.targets === undefined || url === 'embedded' || fleet.targets.has(new URL(url).origin)) return;
  throw new CommandStop(
    'fleet-target',
    `target ${quoted(name)} is at ${new URL(url).origin}, which fleet.yaml does not allow to the stacks of this repository`,
  );
}

/**
 * Reports to the worker who approved the plans that are applied.
 * @throws CommandStop during a freeze, if a plan has no approval of the people who may apply during it
 */
export function respectFreeze(
  approvals: readonly Pick<Approval, 'at' | 'by' | 'digest'>[],
  { fleet }: Pick<CliHost, 'fleet'>,
): void {
  const { freeze, approvedBy } = fleet?.apply ?? {};
  const people = [...new Set(approvals.map(({ by }) => by))].sort();
  if (freeze !== undefined && !isExcepted(approvals, freeze))
    throw new CommandStop(
      'fleet-freeze',
      `nothing was written: the freeze ${quoted(freeze.name)} lasts until ${freeze.end}, and until then only what ${freeze.except.map(quoted).join(' or ')} approved after ${freeze.begin} is applied`,
    );
  approvedBy?.(people);
}

/** Whether one of these people approved each plan after the freeze began. False if there are no approvals, because none are needed. */
function isExcepted(
  approvals: readonly Pick<Approval, 'at' | 'by' | 'digest'>[],
  { except, begin }: { readonly except: readonly string[]; readonly begin: string },
): boolean {
  // Names of users on code hosts are case-insensitive.
  const people = new Set(except.map((person) => person.toLowerCase()));
  const byPlan = [...Map.groupBy(approvals, ({ digest }) => digest).values()];
  const counts = ({ at, by }: Pick<Approval, 'at' | 'by'>) =>
    people.has(by.toLowerCase()) && Date.parse(at) >= Date.parse(begin);
  return byPlan.length > 0 && byPlan.every((some) => some.some(counts));
}
