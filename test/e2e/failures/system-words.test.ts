// What the system says of files and connections: named, and with a way out.
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

async function made(spec = {}) {
  const stack = await (await openBench()).checkout({ spec });
  await stack.declare(workspace('app', {}));
  return stack;
}

it('a plan that is to be written where a folder is names it', async () => {
  const { err } = await (await made()).run(['plan', '--out', 'manifests'], 1);
  expect(err).toBe(
    'error: the plan cannot be written to "manifests": it is a directory; name a file in it\n',
  );
});

it('a database that is down is told with what to check', async () => {
  const stack = await made({ ledger: { postgres: { url: { env: 'LEDGER_URL' } } } });
  const env = { ...secrets, LEDGER_URL: 'postgres://me:planted@127.0.0.1:1/db' };
  const { code, err } = await trueup(['plan'], { cwd: stack.directory, env });
  expect(code).toBe(1);
  expect(err).toContain('ECONNREFUSED 127.0.0.1:1: nothing listens there; check host and port');
  expect(err).not.toContain('planted');
});
