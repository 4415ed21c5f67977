/** Drift of a fleet and its notifications, in a real database whose clock the test moves; receivers are real HTTP servers. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { recordEnd } from '../../../src/commands/fleet/check-records.ts';
import { Notifier } from '../../../src/commands/fleet/notify/notifier.ts';
import { channelsOf } from '../../../src/commands/fleet/notify/settings.ts';
import { noteStart, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { issuesToken } from '../code-host/issues.ts';
import type { PostgresServer } from '../ledger/postgres-server.ts';
import { listenForTest } from '../rig/listen.ts';
import { openFleetDatabase } from './database.ts';
import { resultWith } from './reports.ts';

type Notification = Parameters<typeof channelsOf>[1][number];

export const minute = 60_000;
export const webhookSecret = 'secret-of-the-webhook-0123456789';
const env = { ISSUES_TOKEN: issuesToken, HOOK_SECRET: webhookSecret };
export const issuesSecret = { env: 'ISSUES_TOKEN' };

export async function openNotifications(
  server: PostgresServer | undefined,
  notification: Notification,
  stacks = ['one'],
) {
  const database = await openFleetDatabase(server);
  const { client, connect } = database;
  const schedule = (names: readonly string[]) =>
    scheduleStacks(
      client,
      'infra',
      names.map((name) => ({
        repository: 'infra',
        path: `${name}/trueup.yaml`,
        seconds: 900,
        tree: 'first',
      })),
    );
  await schedule(stacks);
  await client.query(
    "insert into trueup_fleet.repositories (fleet, name, named) values ('acme', 'infra', trueup_fleet.now())",
  );
  const seconds = (duration: string) => Number(duration.slice(0, -1)) * (duration.endsWith('m') ? 60 : 1);
  const repositories = [{ name: 'infra', url: 'https://git.example.com/acme/infra.git' }];
  const channels = channelsOf('acme', [notification], repositories, seconds);
  const check = async (name: string, parts: Parameters<typeof resultWith>[0] = {}) => {
    const stack = { repository: 'infra', path: `${name}/trueup.yaml` };
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    await recordEnd(client, stack, attempt, resultWith({ stack: name, ...parts }));
  };
  /** a notifier of another worker, with its own connection. @param known the channels in its fleet file */
  const worker = async (
    given: Readonly<Record<string, string>> = env,
    known = channels,
    { client, fleet = 'acme' }: { readonly client?: pg.Client; readonly fleet?: string } = {},
  ) => {
    const own = client ?? (await connect());
    const secrets = new KnownSecrets();
    const signal = new AbortController().signal;
    return new Notifier({
      host: {
        ...{ env: given, secrets, version: '0.0.0-test', now: () => Date.now() },
        clean: (value) => secrets.redactKept(value),
        retryPolicy: { base: 5, longest: 40 },
      },
      database: {
        run: (work) => work(own),
        transaction: async (work) => {
          await own.query('begin');
          const result = await work(own);
          await own.query('commit');
          return result;
        },
      },
      fleet: () => ({ name: fleet, channels: known }),
      signal,
    });
  };
  const first = await worker();
  return { ...database, schedule, check, worker, pass: () => first.pass() };
}

export interface Posted {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: { readonly id: string; readonly event: string } & Readonly<Record<string, unknown>>;
}

/** A receiver of webhooks. @param answers the statuses of the first responses; later ones have 204 */
export async function openReceiver(answers: number[] = []) {
  const posted: Posted[] = [];
  const server = createServer(async (request, response) => {
    const content = await text(request);
    posted.push({ headers: request.headers, text: content, body: JSON.parse(content) as Posted['body'] });
    response.writeHead(answers.shift() ?? 204).end();
  });
  const { url } = await listenForTest(server);
  return { url, posted, answers, events: () => posted.map(({ body }) => body.event) };
}
