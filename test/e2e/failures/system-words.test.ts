// Errors of the operating system about files and connections: they name the file or address, and what to check.
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

async function made(spec = {}) {
  const stack = await (await openBench()).checkout({ spec });
  await stack.declare(workspace('app', {}));
  return stack;
}

it('a plan file whose path is a folder is reported with what to do', async () => {
  const { err } = await (await made()).run(['plan', '--out', 'manifests'], 1);
  expect(err).toBe(
    'error: the plan cannot be written to "manifests": it is a directory; name a file in it\n',
  );
});

it('a database that is down is reported with what to check', async () => {
  const stack = await made({ ledger: { postgres: { url: { env: 'LEDGER_URL' } } } });
  const env = { ...secrets, LEDGER_URL: 'postgres://me:planted@127.0.0.1:1/db' };
  const { code, err } = await trueup(['plan'], { cwd: stack.directory, env });
  expect(code).toBe(1);
  expect(err).toContain('ECONNREFUSED 127.0.0.1:1: nothing listens there; check host and port');
  expect(err).not.toContain('planted');
});

it.each([
  ['gone', 'there is no such file or folder; check the path: it has to hold the token of target "acme"'],
  [
    'plain/token',
    'a part of its path is not a directory; check the path: it has to hold the token of target "acme"',
  ],
])('a secret file that cannot be read (%s) is reported with what to check', async (file, words) => {
  const bench = await openBench();
  const stack = await bench.checkout({ workspaces: { token: { file } } });
  await stack.declare(workspace('app', {}));
  await stack.write('plain', 'x');
  const { err } = await stack.run(['plan'], 1);
  expect(err).toContain(`cannot be read: ${words}`);
  expect(err).not.toMatch(/E[A-Z]{4,}/);
});

it.each([
  ['plain/embedded.db', 'a part of its path is not a directory; check the path'],
  ['dangling', 'there is no such file or folder; check the path'],
])(
  'a data file of the embedded service that cannot be used (%s) is reported with what to check',
  async (file, words) => {
    const stack = await made();
    await stack.write('plain', 'x');
    await symlink('nowhere/embedded.db', join(stack.directory, 'dangling'));
    const { err } = await stack.run(['serve', '--port', '0', '--data', file], 1);
    expect(err).toMatch(new RegExp(`^error: the data file ".*${file}" cannot be used: ${words}\n$`));
  },
);

it('a missing certificate is reported with what to check', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ workspaces: { caCert: { file: 'ca.pem' } } });
  await stack.declare(workspace('app', {}));
  const { err } = await stack.run(['plan'], 1);
  expect(err).toBe(
    'error: the certificate "ca.pem" cannot be read: there is no such file or folder; check the path\n',
  );
});
