/** Opens a target as the CLI does, with a clock that does not sleep; it is closed at the end of the test. */
import { onTestFinished } from 'vitest';
import { findDialect } from '../../../src/api/dialects.ts';
import { openTarget, type TargetConnection, type TargetOptions } from '../../../src/api/open-target.ts';
import type { Target } from '../../../src/model/stack.ts';
import { WireError } from '../../../src/model/http.ts';
import { FakeClock } from './fake-clock.ts';

export const workspacesTarget: Target = {
  name: 'acme',
  service: 'workspaces',
  url: 'https://automation.internal',
  organization: 'acme',
  dialect: 'neutral',
  requestsPerSecond: 1000,
};

export const rolesTarget: Target = {
  name: 'prod',
  service: 'cluster-auth',
  url: 'https://secrets.internal',
  mount: 'cluster',
  dialect: 'neutral',
  requestsPerSecond: 1000,
};

export interface Opened extends TargetConnection {
  readonly clock: FakeClock;
}

/** Every random number is 1, so that each wait has its maximum length. */
export function open(options: { readonly url: string } & Partial<TargetOptions>): Opened {
  const target = options.target ?? workspacesTarget;
  const dialect = options.dialect ?? findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect}`);
  const clock = new FakeClock();
  const connection = openTarget({
    userAgent: 'trueup/test',
    token: async () => 'the-token',
    clock,
    random: () => 1,
    ...options,
    target,
    dialect,
  });
  onTestFinished(() => connection.close());
  return { ...connection, clock };
}

/** The error of a request that must fail without a response. */
export async function failureOf(promise: Promise<unknown>): Promise<WireError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof WireError)) throw new Error(`no WireError but ${error}`);
  return error;
}
