// What is stored about the drift of each stack, in a real PostgreSQL whose time the tests move.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordEnd } from '../../../src/commands/fleet/check-records.ts';
import { type CheckResult, resultOf } from '../../../src/commands/fleet/check-stack.ts';
import { readOpenDrifts } from '../../../src/commands/fleet/drift-records.ts';
import { noteStart, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { boundedReport } from '../../../src/report/json/bounded-drift.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { changedName, drifted, reportOf, resultWith } from '../../support/fleet/reports.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const minute = 60_000;
const day = 24 * 60 * minute;
const stack = { repository: 'infra', path: 'one/trueup.yaml' };

async function openRecords() {
  const database = await openFleetDatabase(server);
  const { client, advance } = database;
  const schedule = (...paths: readonly string[]) =>
    scheduleStacks(
      client,
      'infra',
      paths.map((path) => ({ repository: 'infra', path, seconds: 900, tree: 'first' })),
    );
  await schedule(stack.path);
  /** a minute after the one before */
  const check = async (result: CheckResult) => {
    await advance(minute);
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    await recordEnd(client, stack, attempt, result);
    return attempt;
  };
  const records = async () => {
    const { rows } = await client.query(
      `select closed is null as open, closed_because as because, changed > opened as changed, resources,
         report->'drifted'->0->'fields'->0->>'after' as after
       from trueup_fleet.drifts order by id`,
    );
    return rows;
  };
  return { ...database, schedule, check, records };
}

const open = { open: true, because: null, changed: false, resources: 1, after: 'by hand' };
const closed = { ...open, open: false, because: 'gone' };

describe.skipIf(bin === undefined)('The record of the drift of a stack', () => {
  it('names who last modified each resource, from the audit trail, and the requests of the check', async () => {
    const { client } = await openRecords();
    const by = (name: string, id = 'user-1') => ({
      touched: {
        touches: [
          {
            ...{ at: '2026-01-01T00:00:00Z', event: 'e' },
            actor: { id, name, kind: 'Client' },
            resource: { type: 'workspace', action: 'update' },
          },
        ],
      },
    });
    const found = [
      drifted('app', 'x', by('bob')),
      drifted('api', 'x', by('ann')),
      drifted('web', 'x', by('bob')),
      drifted('job', 'x', by('', 'user-7')),
      drifted('old', 'x'),
    ];
    const owner = { address: 'https://app.example.com', identity: 'hash' };
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    const requests = [{ ...owner, requests: 12 }];
    await recordEnd(client, stack, attempt, { ...resultWith({ drifted: found }), requests });
    const read = async (sql: string) => (await client.query(sql)).rows;
    expect(await read('select actors from trueup_fleet.drifts')).toEqual([
      { actors: ['ann', 'bob', 'user-7'] },
    ]);
    const used = 'select address, identity, requests from trueup_fleet.stack_requests';
    expect(await read(used)).toEqual(requests);
    // A failed check does not change the number of requests. Another user replaces the one before.
    const failed = { ...resultWith({ unread: 'no' }), requests: [{ ...owner, requests: 1 }] };
    await recordEnd(client, stack, (await noteStart(client, stack))?.attempt ?? '', failed);
    expect(await read(used)).toEqual(requests);
    const other = [{ ...owner, identity: 'other', requests: 9 }];
    await recordEnd(client, stack, (await noteStart(client, stack))?.attempt ?? '', {
      ...resultWith(),
      requests: other,
    });
    expect(await read(used)).toEqual(other);
  });

  it('is opened, changed and closed by complete checks, and opened again when drift comes back', async () => {
    const { check, records, client } = await openRecords();
    await check(resultWith());
    expect(await records()).toEqual([]);
    await check(resultWith({ drifted: [drifted('app', 'by hand')] }));
    expect(await records()).toEqual([open]);
    await check(resultWith({ drifted: [drifted('app', 'again'), drifted('web', 'by hand')] }));
    expect(await records()).toEqual([{ ...open, changed: true, resources: 2, after: 'again' }]);
    await check(resultWith());
    await check(resultWith({ drifted: [drifted('app', 'by hand')] }));
    expect(await records()).toEqual([
      { ...closed, changed: true, resources: 2, after: 'again' },
      { ...open, changed: false },
    ]);
    expect(await readOpenDrifts(client)).toMatchObject([{ ...stack, resources: 1 }]);
  });

  it('is not marked as changed when it was just opened, even if time passes', async () => {
    const { client, records } = await openRecords();
    await client.query('create sequence trueup_fleet.ticks');
    await client.query(
      `create or replace function trueup_fleet.now() returns timestamptz language sql volatile as
       'select timestamptz ''2026-01-02T00:00:00Z'' + make_interval(secs => nextval(''trueup_fleet.ticks''))'`,
    );
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    await recordEnd(client, stack, attempt, resultWith({ drifted: [drifted('app', 'by hand')] }));
    expect(await records()).toEqual([open]);
  });

  it('stays the same if only authors, order or notes differ', async () => {
    const { check, records } = await openRecords();
    const [app, web] = [drifted('app', 'by hand'), drifted('web', 'by hand')];
    await check(resultWith({ drifted: [app, web] }));
    const touched = {
      touches: [
        {
          ...{ at: '2026-01-01T00:00:00Z', event: 'ae-1', resource: { type: 'workspace', action: 'update' } },
          actor: { id: 'user-1', name: 'ann', kind: 'Client' },
        },
      ],
    };
    await check(
      resultWith({
        drifted: [
          { ...web, touched },
          { ...app, notes: ['seen at 10:00'] },
        ],
      }),
    );
    expect(await records()).toEqual([{ ...open, resources: 2 }]);
  });

  it('is not changed by an incomplete check', async () => {
    const { check, records, client } = await openRecords();
    const down = resultWith({ unread: 'answered 503', drifted: [drifted('app', 'other')] });
    await check(down);
    expect(await records()).toEqual([]);
    await check(resultWith({ drifted: [drifted('app', 'by hand')] }));
    await check(down);
    await check(resultWith({ unread: 'answered 503' }));
    await check({ error: 'the repository cannot be read', summary: undefined });
    expect(await records()).toEqual([open]);
    const { rows } = await client.query(
      "select last_report->>'complete' as complete from trueup_fleet.stacks",
    );
    expect(rows).toEqual([{ complete: 'true' }]);
  });

  it('counts names that refer to other objects as drift', async () => {
    const { check, records } = await openRecords();
    const report = reportOf({ changedNames: [changedName('app')] });
    const result = resultOf({ code: 3, output: JSON.stringify(report), errors: '' });
    expect(result).toMatchObject({ error: undefined, summary: { drifted: 1 } });
    await check(result);
    expect(await records()).toMatchObject([{ open: true, resources: 1 }]);
  });

  it('replaces characters that the database cannot store, in values and in errors', async () => {
    const { check, records, client } = await openRecords();
    const output = JSON.stringify(reportOf({ drifted: [drifted('app', 'by\0hand')] }));
    await check(resultOf({ code: 3, output, errors: '' }));
    expect(await records()).toEqual([{ ...open, after: 'by\ufffdhand' }]);
    await check(resultOf({ code: 1, output: '', errors: `no\0${'x'.repeat(100_000)}` }));
    const { rows } = await client.query(
      'select left(last_error, 4) as error, length(last_error) from trueup_fleet.stacks',
    );
    expect(rows).toEqual([{ error: 'no\ufffdx', length: 5000 }]);
  });

  it('is closed, but kept, when the stack is removed from its repository', async () => {
    const { check, records, schedule } = await openRecords();
    await check(resultWith({ drifted: [drifted('app', 'by hand')] }));
    await schedule('other/trueup.yaml');
    expect(await records()).toEqual([{ ...closed, because: 'removed' }]);
  });

  it('is not opened by the check of a stack that was removed meanwhile', async () => {
    const { client, records, schedule } = await openRecords();
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    await schedule('other/trueup.yaml');
    await recordEnd(client, stack, attempt, resultWith({ drifted: [drifted('app', 'by hand')] }));
    expect(await records()).toEqual([]);
  });
});

describe.skipIf(bin === undefined)('The list of checks', () => {
  it('has one row for each check, for 30 days', async () => {
    const { check, client, advance } = await openRecords();
    const attempt = await check(resultWith({ drifted: [drifted('app', 'by hand')] }));
    await recordEnd(client, stack, attempt, resultWith());
    await check(resultWith({ unread: 'answered 503' }));
    const rows = async () =>
      (await client.query('select drifted, error_code from trueup_fleet.checks order by id')).rows;
    expect(await rows()).toEqual([
      { drifted: 1, error_code: null },
      { drifted: null, error_code: 'target-unread' },
    ]);
    await advance(31 * day);
    await check(resultWith());
    expect(await rows()).toEqual([{ drifted: 0, error_code: null }]);
  });
});

describe('The report of a check', () => {
  it('is kept below a maximum size by cutting its lists, and its counts stay', () => {
    const many = Array.from({ length: 3000 }, (_, index) => drifted(`app-${index}`, 'x'.repeat(1000)));
    const text = boundedReport(reportOf({ drifted: many }));
    expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
    const kept = JSON.parse(text);
    expect(kept.drifted.length).toBeGreaterThan(100);
    expect(kept.summary.drifted).toBe(3000);
    const long = [drifted('app', 'x'.repeat(2_000_000))];
    expect(JSON.parse(boundedReport(reportOf({ drifted: long }))).drifted[0].fields[0].after).toBe(
      '2000002 characters',
    );
  });

  it('says what was not read if a service returned an incomplete list', () => {
    const report = reportOf();
    const target = { target: 'main', requests: 1, read: [], limits: [], invisible: [], notes: [] };
    const incomplete = ['not all workspaces were read: the list has a total of 32, but 2 items', 'other'];
    const coverage = { ...report.coverage, complete: false, targets: [{ ...target, incomplete }] };
    const output = JSON.stringify({ ...report, complete: false, coverage });
    expect(resultOf({ code: 1, output, errors: '' }).error).toBe(
      'target "main" was not read completely: not all workspaces were read: the list has a total of 32, but 2 items (and 1 more)',
    );
  });

  it('says on one line why a check failed', () => {
    const problems = [{ severity: 'error', code: 'x', message: 'nothing was read\n  because of this' }];
    expect(resultOf({ code: 1, output: JSON.stringify({ problems }), errors: '' }).error).toBe(
      'nothing was read; because of this',
    );
  });

  it('is missing if a process printed something else', () => {
    const printed = (value: unknown) => resultOf({ code: 0, output: JSON.stringify(value), errors: '' });
    const wrong = { ...reportOf(), drifted: [{ address: 7 }] };
    for (const value of [wrong, 'text', null, {}])
      expect(printed(value)).toMatchObject({ error: 'the check ended with exit code 0', report: undefined });
  });
});
