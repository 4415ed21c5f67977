/** The schema of `fleet status --format json`; `schemas/fleet-status.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';
import { waitReasons } from './apply/standing.ts';

const time = (description: string) => Type.String({ format: 'date-time', description });

const waitingApply = Type.Object(
  {
    waitsFor: Type.Enum([...waitReasons], {
      type: 'string',
      description:
        'freeze: its end; approval: that a person approves the plan; guard: a guard or a policy stops it; lock: another run has the stack; retry: the last try failed; target: the applies to its target are paused',
    }),
    since: time('since when there is something to apply'),
    reason: Type.String(),
    until: Type.Optional(time('of the end of the freeze, or of the next try')),
  },
  closed,
);

const stack = Type.Object(
  {
    repository: Type.String({ description: 'its name in fleet.yaml' }),
    path: Type.String({ description: 'of the stack file, from the root of the repository' }),
    is: Type.Enum(['attention', 'stale', 'working', 'in-sync'], {
      type: 'string',
      description:
        'attention: drift, the last check failed, or its apply failed or waits for an approval or a guard; stale: no complete check for two intervals; working: waiting for its first check, or its apply runs, or waits for the end of a freeze or for a lock',
    }),
    labels: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'of its stack file, when there are any' }),
    ),
    running: Type.Boolean(),
    failures: Type.Integer({ minimum: 0, description: 'checks that failed in a row' }),
    lastComplete: Type.Optional(time('end of the last complete check')),
    nextDue: time('of the next check'),
    commit: Type.Optional(Type.String({ description: 'of the repository, at the last check' })),
    error: Type.Optional(Type.String({ description: 'why the last check was not complete' })),
    drifted: Type.Optional(
      Type.Integer({ minimum: 0, description: 'resources, at the last complete check' }),
    ),
    driftedSince: Type.Optional(time('of the first check that found drift')),
    driftChanged: Type.Optional(time('of the last check that found other drift than the one before')),
    pending: Type.Optional(Type.Integer({ minimum: 0, description: 'resources that the files change' })),
    applyQueued: Type.Optional(Type.Literal(true, { description: 'its apply waits only for a free worker' })),
    apply: Type.Optional(waitingApply),
  },
  closed,
);

const pausedTarget = Type.Object(
  {
    address: Type.String(),
    reason: Type.String({ description: 'in the words of the last check that failed' }),
    since: time('of the failure that paused it'),
    nextProbe: time('of the next check that shows whether it is back'),
  },
  closed,
);

const unreadRepository = Type.Object(
  {
    repository: Type.String({ description: 'its name in fleet.yaml' }),
    reason: Type.String(),
    lastTry: time('when it was tried last'),
    lastRead: Type.Optional(time('when it was read last; absent if it never was')),
  },
  closed,
);

const undelivered = Type.Object(
  {
    channel: Type.String({ description: 'the fleet, the name of the notification, and its place' }),
    about: Type.Optional(
      Type.String({ description: 'what the message is about; absent if nothing can be sent to the channel' }),
    ),
    error: Type.String(),
    since: time('of the first attempt that failed'),
    nextTry: Type.Optional(time('of the next attempt')),
  },
  closed,
);

export const fleetStatusSchema = Type.Object(
  {
    version: Type.Literal(1),
    summary: Type.Object(
      { stale: count, attention: count, working: count, inSync: count, waitingApplies: count },
      closed,
    ),
    stacks: Type.Array(stack),
    fleetFile: Type.Optional(
      Type.Array(Type.Object({ message: Type.String(), hosts: Type.Array(Type.String()) }, closed), {
        description: 'why workers do not use the newest version of fleet.yaml, and which ones',
      }),
    ),
    quotas: Type.Optional(
      Type.Array(
        Type.Object(
          {
            target: Type.String({ description: 'its address' }),
            requestsPerSecond: Type.Number({ description: 'of all workers together' }),
          },
          closed,
        ),
        { description: 'ceilings for requests in the fleet files of workers: the lowest for each target' },
      ),
    ),
    unreadRepositories: Type.Optional(
      Type.Array(unreadRepository, {
        description: 'repositories that cannot be read: their stacks stay as they were',
      }),
    ),
    pausedTargets: Type.Optional(
      Type.Array(pausedTarget, { description: 'targets that fail for several stacks: they are not asked' }),
    ),
    undelivered: Type.Optional(Type.Array(undelivered, { description: 'messages that cannot be sent' })),
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/fleet-status.schema.json', title: 'trueup fleet status' },
);
