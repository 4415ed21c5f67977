// Messages contain text of other people: values that drifted, and names of folders. No such text may act as anything else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markerOf } from '../../../src/commands/fleet/notify/issue-text.ts';
import { openIssues } from '../../support/code-host/issues.ts';
import { issuesSecret, minute, openNotifications } from '../../support/fleet/notifications.ts';
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
  return { ...(await openNotifications(server, { name: 'issues', gitlab }, stacks)), host };
}

describe.skipIf(bin === undefined)('An issue about a stack', () => {
  it('is not mistaken for the issue of another stack if a value contains the marker of that stack', async () => {
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

  it("has no mentions or references in its title, even if the folder's name has some", async () => {
    const { check, advance, pass, host } = await openGitlab(['@all/#12 !7']);
    await check('@all/#12 !7', { drifted: [drifted('app', 'by hand')] });
    await advance(11 * minute);
    await pass();
    expect(host.issues[0]?.title).toContain('all');
    expect(host.issues[0]?.title).not.toMatch(/[@#!]\w/);
  });
});
