// A secret that somebody wrote where the name of its source belongs.
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const asVariable = ['HunterTwoPass77', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'AKIAIOSFODNN7EXAMPLE'];
const asFile = [
  'HunterTwoPass77',
  'correct-horse-battery',
  'hvs.CAESIJlWh3vGb1Qm8Zk2Xx0aYt7Lr5Np',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  'wJalrXUtnFEMI/K7MDENGbPxRfiCYEXAMPLEKEY',
];
const wrong = [...asVariable.map((env) => ({ env })), ...asFile.map((file) => ({ file }))];

async function whatIsSaid(options: Parameters<Awaited<ReturnType<typeof openBench>>['checkout']>[0]) {
  const stack = await (await openBench()).checkout(options);
  await stack.declare(workspace('app', {}));
  const told: string[] = [];
  for (const args of [['plan'], ['plan', '--format', 'json'], ['apply', '--yes']]) {
    const { out, err } = await stack.run(args, 1);
    told.push(out + err);
  }
  return told.join('\n');
}

describe('a secret in the place of the name of its source is not repeated', () => {
  it.each(wrong)('as the token of a target: %o', async (token) => {
    const told = await whatIsSaid({ workspaces: { token } });
    expect(told).not.toContain(Object.values(token)[0]);
    expect(told).toContain('it has to hold the token of target');
    expect(told).toContain('not shown here: it may be the secret itself');
  });

  it.each(wrong)('as the address of the ledger: %o', async (url) => {
    const told = await whatIsSaid({ spec: { ledger: { postgres: { url } } } });
    expect(told).not.toContain(Object.values(url)[0]);
    expect(told).toContain("it has to hold the address of the ledger's database");
  });
});

describe('a source that is not there is still found by its name', () => {
  it.each([
    { env: 'ACME_TOKEN' },
    { env: 'TOKEN2' },
    { env: 'PRODUCTION_CLUSTER_SERVICE_TOKEN' },
    { file: 'token' },
    { file: '.secrets/acme-token' },
    { file: '/run/secrets/production/api-token.txt' },
  ])('%o', async (token) => {
    expect(await whatIsSaid({ workspaces: { token } })).toContain(`${Object.values(token)[0]}`);
  });
});
