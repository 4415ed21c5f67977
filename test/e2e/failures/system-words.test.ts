// What the system says of files and connections: named, and with a way out.
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-world.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

async function made(spec = {}) {
  const stack = await (await openBench()).checkout({ spec });
  await stack.declare(workspace('app', {}));
  return stack;
}

it('a plan that is to be written where a folder is names it', async () => {
  const { err } = await (await made()).run(['plan', '--out', 'manifests'], 1);
  expect(err).toMatch(/^error: "\S+manifests" cannot be used: it is a directory; name a file in it\n$/m);
});

it.skipIf(!existsSync('/dev/full'))('a plan that a full device does not take names the device', async () => {
  const { err } = await (await made()).run(['plan', '--out', '/dev/full'], 1);
  expect(err).toContain('"/dev/full" cannot be used: there is no room left on the disk; make some');
});

it('a database that is down is told with what to check', async () => {
  const stack = await made({ ledger: { postgres: { url: { env: 'LEDGER_URL' } } } });
  const env = { ...secrets, LEDGER_URL: 'postgres://me:planted@127.0.0.1:1/db' };
  const { code, err } = await trueup(['plan'], { cwd: stack.directory, env });
  expect(code).toBe(1);
  expect(err).toContain('ECONNREFUSED 127.0.0.1:1: nothing listens there; check host and port');
  expect(err).not.toContain('planted');
});
