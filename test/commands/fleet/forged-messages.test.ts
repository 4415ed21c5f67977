// What other people wrote reaches messages: values that drifted, and names of folders. None of it may act as something else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markerOf } from '../../../src/commands/fleet/notify/issue-text.ts';
import { openIssues } from '../../support/code-host/issues.ts';
import { issuesSecret, minute, openTold } from '../../support/fleet/notifications.ts';
import { drifted } from '../../support/fleet/reports.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

async function openGitlab(stacks: string[]) {
  const host = await openIssues('gitlab');
  const gitlab = { url: `${host.url}/api/v4`, project: 'acme/infra', token: issuesSecret };
  return { ...(await openTold(server, { name: 'issues', gitlab }, stacks)), host };
}

describe.skipIf(bin === undefined)('An issue about a stack', () => {
  it('is not taken for the issue of another stack whose marker is in a value', async () => {
    const { check, advance, pass, host } = await openGitlab(['one', 'two']);
    const marker = markerOf('acme', 'stack ["infra","two/trueup.yaml"]');
    await check('one', { drifted: [drifted('app', `by hand ${marker}`)] });
    await advance(11 * minute);
    await pass();
    expect(host.issues[0]?.body).toContain(marker);
    await check('two', { drifted: [drifted('app', 'by hand')] });
    await advance(11 * minute);
    await pass();
    expect(host.issues.map(({ title }) => title)).toEqual([
      'Drift of stack one (infra/one/trueup.yaml)',
      'Drift of stack two (infra/two/trueup.yaml)',
    ]);
  });

  it('mentions nobody and nothing in its title, whatever the folder is called', async () => {
    const { check, advance, pass, host } = await openGitlab(['@all/#12 !7']);
    await check('@all/#12 !7', { drifted: [drifted('app', 'by hand')] });
    await advance(11 * minute);
    await pass();
    expect(host.issues[0]?.title).toContain('all');
    expect(host.issues[0]?.title).not.toMatch(/[@#!]\w/);
  });
});
