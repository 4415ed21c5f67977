/**
 * The side of a process that checks one stack of a fleet. It shares the limits of requests with all other ones: the worker that started it
 * asks the database, whose address this process does not know. A token is sent as a hash.
 */
import { createHash } from 'node:crypto';
import type { TargetOptions } from '../api/open-target.ts';
import type { RatedAnswer } from '../api/transport/rate.ts';
import type { SharedRate } from '../api/transport/throttle.ts';
import type { Reader } from '../model/http.ts';
import { isJsonObject, memberOf } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { Target } from '../model/stack.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost, FleetCheck } from './host.ts';

/** Whose limit a message is about. */
interface RateOwner {
  /** of the API */
  readonly address: string;
  /** a hash of the token, or of the role of a login */
  readonly identity: string;
}

/** From the process to its worker. Those with an id have an answer. */
export type RateMessage = RateOwner &
  (
    | { readonly do: 'take'; readonly id: number; readonly count: number }
    | { readonly do: 'wants-user'; readonly id: number }
    | { readonly do: 'pause'; readonly milliseconds: number }
    | { readonly do: 'observe'; readonly answer: RatedAnswer | undefined }
    | { readonly do: 'set-user'; readonly user: string | undefined }
  );

/** From the worker. Only `take` has start times. */
export interface RateAnswer {
  readonly id: number;
  readonly wantsUser?: boolean;
  readonly count: number;
  /** milliseconds to the first start time */
  readonly wait: number;
  readonly apart: number;
}

type ParentChannel = Pick<NodeJS.Process, 'connected' | 'env' | 'kill' | 'on' | 'pid'> & {
  send?(message: RateMessage): boolean;
  readonly channel?: { ref(): void; unref(): void } | null | undefined;
};

/** Undefined in a process that no worker started. */
export function fleetCheckOf(parent: ParentChannel): FleetCheck | undefined {
  if (!parent.connected || parent.env['TRUEUP_FLEET_CHECK'] === undefined) return undefined;
  const waiting = new Map<number, (answer: RateAnswer) => void>();
  let last = 0;
  parent.on('message', (answer: RateAnswer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) parent.channel?.unref();
  });
  // Without its worker nobody reads what the check finds, and nobody says when its requests may start.
  parent.on('disconnect', () => parent.kill(parent.pid, 'SIGTERM'));
  // An open channel must not keep the process alive, but a question must.
  parent.channel?.unref();
  const tell = (message: RateMessage) => {
    if (parent.connected) parent.send?.(message);
  };
  const ask = (message: (id: number) => RateMessage) => {
    last += 1;
    const id = last;
    const answered = new Promise<RateAnswer>((resolve) => waiting.set(id, resolve));
    parent.channel?.ref();
    tell(message(id));
    return answered;
  };
  const targets = parent.env['TRUEUP_FLEET_TARGETS'];
  return {
    targets: targets === undefined ? undefined : new Set(targets.split(' ')),
    wantsUser: async (address, identity) => {
      const { wantsUser = false } = await ask((id) => ({ do: 'wants-user', id, address, identity }));
      return wantsUser;
    },
    setUser: (address, identity, user) => tell({ do: 'set-user', address, identity, user }),
    sharedRate: (address, identity) => ({
      take: (count) => ask((id) => ({ do: 'take', id, count, address, identity })),
      pause: (milliseconds) => tell({ do: 'pause', milliseconds, address, identity }),
      observe: (answer) => tell({ do: 'observe', answer, address, identity }),
    }),
  };
}

// What a run asks of it.

/** By the token, or by the role of a login, whose tokens are new each time. The embedded service has no limit. */
export async function sharedRateOf(
  { url, token: from }: Target,
  token: TargetOptions['token'],
  { fleet }: Pick<CliHost, 'fleet'>,
): Promise<SharedRate | undefined> {
  if (fleet === undefined || url === 'embedded') return undefined;
  const login = loginOf(from);
  const user = login === undefined ? await textOf(token) : `${login.mount} ${login.role}`;
  return fleet.sharedRate(new URL(url).origin, identityOf(user));
}

/** Tells the worker whose token it is. Only the workspaces API has one limit for all tokens of a user. */
export async function tellUser(
  { url, service, token: from }: Target,
  token: TargetOptions['token'],
  { reader, fleet }: Pick<CliHost, 'fleet'> & { readonly reader: Reader },
): Promise<void> {
  if (fleet === undefined || url === 'embedded' || service !== 'workspaces' || loginOf(from) !== undefined)
    return;
  const identity = identityOf(await textOf(token));
  const { origin } = new URL(url);
  if (!(await fleet.wantsUser(origin, identity))) return;
  // A service that does not answer says so again when the check reads from it.
  const answer = await reader.get('/account/details').catch(() => undefined);
  if (answer === undefined) return;
  const user = memberOf(answer.body, 'data');
  const { id } = answer.status === 200 && isJsonObject(user) ? user : {};
  fleet.setUser(origin, identity, typeof id === 'string' ? id : undefined);
}

function loginOf(from: Target['token']) {
  return from !== undefined && 'login' in from ? from.login : undefined;
}

async function textOf(token: TargetOptions['token']): Promise<string> {
  return typeof token === 'function' ? await token('/') : '';
}

function identityOf(user: string): string {
  return createHash('sha256').update(user).digest('hex');
}

/** Before anything of the target is read: its token must not be sent to an address that nobody allowed. */
export function refuseForFleet({ name, url }: Target, { fleet }: Pick<CliHost, 'fleet'>): void {
  if (fleet?.targets === undefined || url === 'embedded' || fleet.targets.has(new URL(url).origin)) return;
  throw new CommandStop(
    'fleet-target',
    `target ${quoted(name)} is at ${new URL(url).origin}, which fleet.yaml does not allow to the stacks of this repository`,
  );
}
