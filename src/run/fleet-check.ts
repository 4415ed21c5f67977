/**
 * The side of a process that checks one stack of a fleet. It shares the limits of requests with all other ones: the worker that started it
 * asks the database, whose address this process does not know. A token is sent as a hash.
 */
import { createHash } from 'node:crypto';
import type { TargetOptions } from '../api/open-target.ts';
import type { SharedRate } from '../api/transport/throttle.ts';
import { quoted } from '../model/quoted.ts';
import type { Target } from '../model/stack.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost, FleetCheck } from './host.ts';

/** From the process to its worker. */
export type RateMessage =
  | { readonly take: number; readonly id: number; readonly address: string; readonly identity: string }
  | { readonly pause: number; readonly address: string; readonly identity: string };

/** From the worker: what `take` gives, for the question with this id. */
export interface RateAnswer {
  readonly id: number;
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
  const targets = parent.env['TRUEUP_FLEET_TARGETS'];
  return {
    targets: targets === undefined ? undefined : new Set(targets.split(' ')),
    sharedRate: (address, identity): SharedRate => ({
      take: (take) => {
        last += 1;
        const id = last;
        const answered = new Promise<RateAnswer>((resolve) => waiting.set(id, resolve));
        parent.channel?.ref();
        parent.send?.({ take, id, address, identity });
        return answered;
      },
      pause: (pause) => {
        if (parent.connected) parent.send?.({ pause, address, identity });
      },
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
  const login = from !== undefined && 'login' in from ? from.login : undefined;
  const user =
    login !== undefined
      ? `${login.mount} ${login.role}`
      : typeof token === 'function'
        ? await token('/')
        : '';
  return fleet.sharedRate(new URL(url).origin, createHash('sha256').update(user).digest('hex'));
}

/** Before anything of the target is read: its token must not be sent to an address that nobody allowed. */
export function refuseForFleet({ name, url }: Target, { fleet }: Pick<CliHost, 'fleet'>): void {
  if (fleet?.targets === undefined || url === 'embedded' || fleet.targets.has(new URL(url).origin)) return;
  throw new CommandStop(
    'fleet-target',
    `target ${quoted(name)} is at ${new URL(url).origin}, which fleet.yaml does not allow to the stacks of this repository`,
  );
}
