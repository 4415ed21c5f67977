// examples/ci/github/drift.yml: bash runs its last step, which keeps one issue about drift up to date in a double of GitHub.
import { copyFileSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pinTrueup } from '../../support/ci/pinned-trueup.ts';
import { readYaml, runSteps, type WorkflowFile } from '../../support/ci/run-steps.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { type GivenAnswer, openApi } from '../../support/code-host/api-double.ts';

const file = (name: string) => fileURLToPath(new URL(`../../../examples/ci/github/${name}`, import.meta.url));

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly labels: readonly string[];
  body: string;
  state: string;
}

/** The issues of `acme/infra`, as the REST API of GitHub documents them. */
async function openIssues() {
  const issues: Issue[] = [];
  const api = await openApi(({ method, path, query, body, headers }): GivenAnswer => {
    if (headers.authorization !== 'Bearer job-token') return { status: 401 };
    const sent = body as Partial<Issue>;
    if (method === 'GET' && path === '/repos/acme/infra/issues')
      return {
        status: 200,
        body: issues.filter(
          ({ state, labels }) => state === query.get('state') && labels.includes(query.get('labels') ?? ''),
        ),
      };
    if (method === 'POST' && path === '/repos/acme/infra/issues') {
      const made = { title: '', labels: [], body: '', ...sent, number: issues.length + 1, state: 'open' };
      issues.push(made);
      return { status: 201, body: made };
    }
    const found = issues.find(({ number }) => path === `/repos/acme/infra/issues/${number}`);
    if (method !== 'PATCH' || found === undefined) return { status: 404 };
    return { status: 200, body: Object.assign(found, sent) };
  });
  return { issues, api };
}

it('the nightly job opens one issue about drift, updates it, and closes it when all drift is gone', {
  timeout: 180_000,
}, async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.declare(workspace('app', { description: 'one' }));
  await stack.run(['apply', '--yes'], 0);
  pinTrueup(stack.directory);
  mkdirSync(join(stack.directory, '.github'));
  copyFileSync(file('drift-issue.mjs'), join(stack.directory, '.github', 'drift-issue.mjs'));
  const { issues, api } = await openIssues();
  const [step] = readYaml<WorkflowFile>('examples/ci/github/drift.yml').jobs['drift']?.steps.slice(-1) ?? [];
  const installed = join(stack.directory, 'tools', 'trueup', 'node_modules', '.bin');
  const night = (more: object = {}) =>
    runSteps(
      // The previous step has installed trueup.
      [{ run: 'npm ci --offline --prefix tools/trueup' }, { run: step?.run ?? '' }],
      {
        cwd: stack.directory,
        env: {
          PATH: [installed, dirname(process.execPath), process.env['PATH']].join(delimiter),
          ...secrets,
          GITHUB_API_URL: api.url,
          GITHUB_REPOSITORY: 'acme/infra',
          GITHUB_TOKEN: 'job-token',
          ...more,
        },
      },
      (text) => text,
    );
  expect(await night()).toMatchObject({ code: 0 });
  expect(issues).toEqual([]);

  await setByHand(bench, 'app', { description: 'by hand' });
  expect(await night()).toMatchObject({ code: 0 });
  expect(issues).toMatchObject([{ state: 'open', labels: ['trueup-drift'] }]);
  expect(issues[0]?.body).toContain('by hand');

  await setByHand(bench, 'app', { description: 'by another hand' });
  expect(await night()).toMatchObject({ code: 0 });
  expect(issues).toHaveLength(1);
  expect(issues[0]?.body).toContain('by another hand');

  // A failed read does not prove that nothing drifted.
  expect(await night({ API_TOKEN: 'wrong' })).toMatchObject({ code: 1 });
  expect(issues).toMatchObject([{ state: 'open' }]);

  await setByHand(bench, 'app', { description: 'one' });
  expect(await night()).toMatchObject({ code: 0 });
  expect(issues).toMatchObject([{ state: 'closed' }]);
});
