// trueup audit list, follow and archive: who did what in an organization, as users run the commands.
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { eventsSchema } from '../../../src/commands/audit/schema.ts';
import type { CommandResult } from '../../support/captured-host.ts';
import {
  servedEvent,
  servedEvents,
  serveTrail,
  type TrailService,
} from '../../support/audit/trail-service.ts';
import { startTrueup, trueupProcess } from '../../support/cli/process.ts';
import { type StackFolder, stackIn, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const env = { API_TOKEN: 'planted-api-token-6b1f', AUDIT_TOKEN: 'planted-audit-token-77e0' };
const auditToken = { env: 'AUDIT_TOKEN' };

function stackAt(service: { readonly url: string }, spec: object = {}): StackFolder {
  const targets = [workspacesTarget(service.url, { auditToken })];
  return stackIn({ directory: temporaryFolder(), stack: { targets, spec }, env });
}

interface Line {
  readonly target: string;
  readonly event: { readonly id: string };
}

const linesOf = ({ out }: Pick<CommandResult, 'out'>) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
const idsOf = (ran: Pick<CommandResult, 'out'>) => linesOf(ran).map(({ event }) => event.id);
const list = (stack: StackFolder, ...args: string[]) =>
  stack.run(['audit', 'list', '--format', 'jsonl', ...args], 0).then(idsOf);

/** The parsed JSON output, after a check against the published schema. */
function asListed({ out }: Pick<CommandResult, 'out'>): object {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const check = ajv.compile(eventsSchema);
  const value: object = JSON.parse(out);
  check(value);
  expect(check.errors ?? []).toEqual([]);
  return value;
}

const busyDay = [
  servedEvent('a', { at: 1, actor: 'ann', resource: 'ws-1', what: 'workspace create' }),
  servedEvent('b', { at: 2, actor: 'bob', resource: 'ws-1', what: 'workspace update' }),
  servedEvent('c', { at: 3, actor: 'ann', resource: 'run-1', what: 'run create' }),
  servedEvent('d', { at: 4, actor: 'bob', resource: 'ws-2', what: 'workspace update' }),
];

describe('trueup audit list', () => {
  it('lists who did what, newest first, and uses only the audit token for the trail', async () => {
    const service = await serveTrail(busyDay, { token: env.AUDIT_TOKEN });
    const { out } = await stackAt(service).run(['audit', 'list'], 0);
    const [head, ...rows] = out.trimEnd().split('\n');
    expect(head).toMatch(/^when +who +what +resource +request$/);
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ['2026-11-20T12:00:00.004Z', 'bob', 'workspace update', 'ws-2', 'request-of-d'],
      ['2026-11-20T12:00:00.003Z', 'ann', 'run create', 'run-1', 'request-of-c'],
      ['2026-11-20T12:00:00.002Z', 'bob', 'workspace update', 'ws-1', 'request-of-b'],
      ['2026-11-20T12:00:00.001Z', 'ann', 'workspace create', 'ws-1', 'request-of-a'],
    ]);
    const asked = service.requests.filter(({ path }) => path.includes('audit-trail'));
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual([`Bearer ${env.AUDIT_TOKEN}`]);
  });

  it.each<[string, string[], string[]]>([
    ['by the name of the actor', ['--actor', 'ann'], ['c', 'a']],
    ['by the id of the actor', ['--actor', 'user-bob'], ['d', 'b']],
    ['by the resource', ['--resource', 'ws-1'], ['b', 'a']],
    ['by the type of the resource', ['--resource', 'run'], ['c']],
    ['by the action', ['--action', 'create'], ['c', 'a']],
    ['by the type and the action', ['--action', 'workspace create'], ['a']],
    ['by all of these', ['--actor', 'bob', '--action', 'update', '--resource', 'ws-2'], ['d']],
    [
      'by time',
      ['--since', '2026-11-20T13:00:00.001+01:00', '--until', '2026-11-20T12:00:00.003Z'],
      ['c', 'b'],
    ],
    ['by number', ['--limit', '2'], ['d', 'c']],
  ])('filters events %s', async (_, args, wanted) => {
    expect(await list(stackAt(await serveTrail(busyDay)), ...args)).toEqual(wanted);
  });

  it('says that there are older events', async () => {
    const stack = stackAt(await serveTrail(busyDay));
    const few = await stack.run(['audit', 'list', '--limit', '3'], 0);
    expect(few.out).toContain('There are older ones: --limit shows more of them');
    expect((await stack.run(['audit', 'list', '--limit', '4'], 0)).out).not.toContain('older');
    const json = await stack.run(['audit', 'list', '--limit', '3', '--format', 'json'], 0);
    expect(asListed(json)).toMatchObject({ version: 1, stack: 'payments', more: true, gaps: [] });
  });

  it('finds the newest of many thousand events, in either order of the trail', async () => {
    for (const newestFirst of [false, true]) {
      const stack = stackAt(await serveTrail(servedEvents(5200), { newestFirst }));
      expect(await list(stack, '--limit', '2')).toEqual(['e5200', 'e5199']);
    }
  });

  it('escapes control characters of the trail, and shows no token', async () => {
    const hostile = '\u001b[2J\u202eann\n';
    const auth = { accessor_id: env.API_TOKEN, description: hostile, type: 'System', organization_id: 'o' };
    const resource = { id: env.AUDIT_TOKEN, type: 'run\u0007', action: 'x', meta: { by: env.AUDIT_TOKEN } };
    const stack = stackAt(await serveTrail([servedEvent('e', { more: { auth, resource } })]));
    for (const format of ['text', 'json', 'jsonl']) {
      const { out, err } = await stack.run(['audit', 'list', '--format', format], 0);
      expect(out).toContain(String.raw`\u001b[2J\u202eann\n`);
      expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      expect(out + err).not.toContain(env.AUDIT_TOKEN);
    }
  });

  it.each<[string, object, string]>([
    [
      'without a token for a trail',
      { auditToken: undefined },
      'no target of stack "payments" has an "auditToken"',
    ],
    [
      'whose variable is not set',
      { auditToken: { env: 'NOBODY' } },
      'has to hold the audit token of target "acme"',
    ],
  ])('says what is missing for a target %s', async (_, more, words) => {
    const targets = [workspacesTarget('http://127.0.0.1:1', more)];
    const stack = stackIn({ directory: temporaryFolder(), stack: { targets }, env });
    expect((await stack.run(['audit', 'list'], 1)).err).toContain(words);
  });

  it('reports an audit token that the service refuses, and an unknown target', async () => {
    const stack = stackAt(await serveTrail([], { token: 'another' }));
    expect((await stack.run(['audit', 'list'], 1)).err).toContain('the service refuses this "auditToken"');
    expect((await stack.run(['audit', 'list', '--target', 'prod'], 1)).err).toContain('has no target "prod"');
  });

  it('lists the events of the embedded service without a token in the stack', async () => {
    const target = { name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' };
    const stack = stackIn({ directory: temporaryFolder(), stack: { targets: [target] } });
    await stack.declare({
      apiVersion: 'trueup.dev/v1',
      kind: 'Workspace',
      metadata: { name: 'app' },
      spec: {},
    });
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['audit', 'list', '--resource', 'workspace'], 0)).out).toContain(
      'workspace create',
    );
  });
});

describe('trueup audit follow', () => {
  const once = ['audit', 'follow', '--for', '0s', '--format', 'jsonl', '--since', '2026-11-20T12:00:00Z'];

  it('continues where it stopped when it is started again', async () => {
    const service = await serveTrail(servedEvents(3));
    const stack = stackAt(service);
    const next = async () => idsOf(await stack.run([...once, '--cursor', 'kept/cursor.json'], 0));
    expect(await next()).toEqual(['e1', 'e2', 'e3']);
    service.events.push(servedEvent('late', { at: 3 }), ...servedEvents(1200, 4));
    expect(await next()).toHaveLength(1201);
    expect(await next()).toEqual([]);
  });

  it('prints only events that match the filters, and does not print the others later', async () => {
    const stack = stackAt(await serveTrail(busyDay));
    const args = [...once, '--cursor', 'cursor.json'];
    expect(idsOf(await stack.run([...args, '--actor', 'ann'], 0))).toEqual(['a', 'c']);
    expect(idsOf(await stack.run(args, 0))).toEqual([]);
  });

  it('begins now by default', async () => {
    const stack = stackAt(await serveTrail(busyDay));
    expect((await stack.run(['audit', 'follow', '--for', '0s'], 0)).out).toBe('');
  });

  it('prints each event once, also after refusals, and exits with 0 when it is interrupted', async () => {
    const service = await serveTrail(servedEvents(1));
    service.override = (_, count) => {
      if (count === 2) return { status: 429, headers: { 'retry-after': '0' }, body: { errors: [] } };
      if (count === 4) service.events.push(...servedEvents(1, 2));
      return undefined;
    };
    const stack = stackAt(service);
    const args = ['audit', 'follow', '--interval', '1s', '--since', '2026-11-20T12:00:00Z'];
    const running = startTrueup(args, { cwd: stack.directory, env });
    await running.waitForText(/request-of-e2/);
    running.kill('SIGINT');
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual([
      '2026-11-20T12:00:00.001Z  ann  workspace update  ws-1  request-of-e1',
      '2026-11-20T12:00:00.002Z  ann  workspace update  ws-1  request-of-e2',
    ]);
  });

  it('refuses a cursor file that has no cursors or is damaged', async () => {
    const stack = stackAt(await serveTrail());
    await stack.write('notes.txt', 'a diary');
    expect((await stack.run([...once, '--cursor', 'notes.txt'], 1)).err).toContain('has no cursors');
    await stack.write('cursor.json', '{"trails":{"x":{"at":"soon"}}}');
    expect((await stack.run([...once, '--cursor', 'cursor.json'], 1)).err).toContain('is damaged');
  });
});

it.each<[string, string[]]>([
  ['list', ['list']],
  ['follow', ['follow', '--for', '0s', '--since', '2026-11-20T12:00:00Z']],
  ['archive', ['archive', '--to', 'kept.db']],
])('trueup audit %s refuses the trail of another organization', async (_, args) => {
  const service = await serveTrail(busyDay);
  const organization = { type: 'organizations', id: 'acme', attributes: { 'external-id': 'org-of-target' } };
  service.override = ({ path, headers }) =>
    path === '/api/v2/organizations/acme' && headers['authorization'] === `Bearer ${env.API_TOKEN}`
      ? { body: { data: organization } }
      : undefined;
  const stack = stackAt(service);
  const { out, err } = await stack.run(['audit', ...args], 1);
  expect(out).toBe('');
  expect(err.replaceAll(/\s+/g, ' ')).toContain(
    'the audit trail of another organization: the target has the organization id "org-of-target", an event has "org-acme"',
  );
  organization.attributes['external-id'] = 'org-acme';
  expect((await stack.run(['audit', ...args], 0)).out).not.toBe('');
});

describe('trueup audit archive', () => {
  it.each(['out/audit.db', 'lost.db'])(
    'does not write %s through a link that leads out of the stack',
    async (file) => {
      const stack = stackAt(await serveTrail(busyDay), { audit: { archive: { file } } });
      const elsewhere = temporaryFolder();
      await symlink(elsewhere, join(stack.directory, 'out'));
      await symlink(join(elsewhere, 'lost.db'), join(stack.directory, 'lost.db'));
      const { err } = await stack.run(['audit', 'archive'], 7);
      expect(err.replaceAll(/\s+/g, ' ')).toContain(
        'leads through a link to a file outside of the repository',
      );
      expect(await readdir(elsewhere)).toEqual([]);
    },
  );

  const forget = (service: TrailService) => {
    service.events = [];
  };

  it('keeps events that the service forgets, and list --from shows them', async () => {
    const service = await serveTrail(busyDay);
    const stack = stackAt(service);
    expect((await stack.run(['audit', 'archive', '--to', 'kept.db'], 0)).out).toBe(
      'acme: 4 new events, up to 2026-11-20T12:00:00.004Z\n',
    );
    forget(service);
    expect(await list(stack, '--from', 'kept.db', '--actor', 'ann')).toEqual(['c', 'a']);
    expect(await list(stack)).toEqual([]);
  });

  it('writes to the file that the stack names', async () => {
    const service = await serveTrail(busyDay);
    const stack = stackAt(service, { audit: { archive: { file: '.trueup/audit.db' } } });
    const { out } = await stack.run(['audit', 'archive', '--format', 'json'], 0);
    expect(JSON.parse(out)).toMatchObject({
      version: 1,
      trails: [{ target: 'acme', added: 4, newest: '2026-11-20T12:00:00.004Z' }],
    });
    forget(service);
    expect(await list(stack, '--archived')).toEqual(['d', 'c', 'b', 'a']);
  });

  it('keeps no secret that the stack knows', async () => {
    const resource = { id: 'ws-1', type: 'workspace', action: 'update', meta: { by: env.AUDIT_TOKEN } };
    const stack = stackAt(await serveTrail([servedEvent('e', { more: { resource } })]));
    await stack.run(['audit', 'archive', '--to', 'kept.db'], 0);
    const other = { ...env, AUDIT_TOKEN: 'the-token-of-somebody-else' };
    const args = ['audit', 'list', '--from', 'kept.db', '--format', 'jsonl'];
    const { out } = await trueupProcess(args, { cwd: stack.directory, env: other });
    expect(linesOf({ out })[0]?.event).toMatchObject({ resource: { meta: { by: '[secret]' } } });
  });

  it('reports a gap when it finds one, and whenever a list covers it', async () => {
    const service = await serveTrail([servedEvent('e1', { at: 1 })]);
    const stack = stackAt(service);
    await stack.run(['audit', 'archive', '--to', 'kept.db'], 0);
    const later = Date.now() + 30 * 24 * 3_600_000 - Date.parse('2026-11-20T12:00:00Z');
    service.events = [servedEvent('e2', { at: later })];
    const found = await stack.run(['audit', 'archive', '--to', 'kept.db'], 0);
    expect(found.err).toMatch(/events of target "acme" between \S+Z and \S+Z may be missing/);
    const listed = await stack.run(['audit', 'list', '--from', 'kept.db', '--format', 'json'], 0);
    expect(asListed(listed)).toMatchObject({
      gaps: [{ target: 'acme' }],
      diagnostics: [{ code: 'trail-gap', severity: 'warning' }],
    });
    const before = await stack.run(
      ['audit', 'list', '--from', 'kept.db', '--until', '2026-11-20T12:00:01Z'],
      0,
    );
    expect(before.err).toBe('');
  });

  it('runs with --follow until it is stopped, and reports each time what is new', async () => {
    const service = await serveTrail(servedEvents(2));
    service.override = (_, count) => {
      if (count === 3) service.events.push(...servedEvents(1, 3));
      return undefined;
    };
    const stack = stackAt(service);
    const args = ['audit', 'archive', '--to', 'kept.db', '--follow', '--interval', '1s'];
    const running = startTrueup(args, { cwd: stack.directory, env });
    await running.waitForText(/acme: 1 new event,/);
    running.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect([code, out.match(/new event/g)]).toEqual([0, ['new event', 'new event']]);
    expect(await list(stack, '--from', 'kept.db')).toEqual(['e3', 'e2', 'e1']);
  });

  it('has every event once after it was killed', async () => {
    const service = await serveTrail(servedEvents(3500));
    const stack = stackAt(service);
    const args = ['audit', 'archive', '--to', 'kept.db'];
    const killed = Promise.withResolvers<void>();
    service.override = (_, count) => {
      if (count !== 3) return undefined;
      running.kill('SIGKILL');
      killed.resolve();
      return undefined;
    };
    const running = startTrueup(args, { cwd: stack.directory, env });
    await killed.promise;
    expect((await running.ended).signal).toBe('SIGKILL');
    await stack.run(args, 0);
    const ids = await list(stack, '--from', 'kept.db', '--limit', '9999');
    expect(ids).toEqual(
      servedEvents(3500)
        .map(({ id }) => id)
        .reverse(),
    );
  });

  it.each<[string, string[], string]>([
    ['a missing place', [], 'no archive is named: pass --to FILE.db or --to postgres'],
    [
      'a database whose address is not set',
      ['--to', 'postgres'],
      'the environment variable "TRUEUP_AUDIT_URL" is not set',
    ],
    ['the stack file as the archive', ['--to', 'trueup.yaml'], 'file is not a database'],
  ])('says what is wrong with %s', async (_, args, words) => {
    const stack = stackAt(await serveTrail(busyDay));
    expect((await stack.run(['audit', 'archive', ...args], 1)).err).toContain(words);
  });

  it('prints nothing of an invalid database address', async () => {
    const stack = stackAt(await serveTrail(busyDay), {
      audit: { archive: { postgres: { url: { env: 'DB' } } } },
    });
    const options = { cwd: stack.directory, env: { ...env, DB: 'mysql://ann:hunter22@db/x' } };
    const { code, err } = await trueupProcess(['audit', 'archive'], options);
    expect(code).toBe(7);
    expect(err).toContain('the environment variable "DB" holds no address of a PostgreSQL database');
    expect(err).not.toContain('hunter22');
  });
});
