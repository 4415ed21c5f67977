// The mount of a login becomes part of a path. A mount that would lead elsewhere is refused with its line, and never sent.
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { role } from '../../support/cli/documents.ts';

const elsewhere = 'must be the name of a mount, without empty segments, "." or ".."';
const slashes = 'must be the name below "auth/", without slashes around it';

it.each([
  ['..', elsewhere, 'write the name below "auth/"'],
  ['../sys/mounts', elsewhere, 'write the name below "auth/"'],
  ['team//cluster', elsewhere, 'write the name below "auth/"'],
  ['/x/', slashes, 'write "x"'],
  ['auth/cluster', slashes, 'write "cluster"'],
])('A login at the mount %j is refused with its line and a fix', async (mount, message, fix) => {
  const bench = await openBench();
  const login = { mount, role: 'ci', jwt: { file: 'ci.jwt' } };
  const stack = await bench.checkout({ clusterAuth: { token: { login } } });
  await stack.declare(role('web'));
  await stack.write('ci.jwt', 'the-jwt');
  const { out } = await stack.run(['validate', '--format', 'json'], 7);
  const { diagnostics } = JSON.parse(out) as { diagnostics: Record<string, unknown>[] };
  expect(diagnostics).toMatchObject([
    {
      code: 'mount',
      message: `"spec.targets[1].token.login.mount" ${message}`,
      fix,
      place: { file: 'trueup.yaml', line: 1 },
    },
  ]);
  await stack.run(['plan'], 7);
  expect(bench.wire.seen).toEqual([]);
});

it('A login can use a mount with slashes inside its name', async () => {
  const bench = await openBench({ mounts: ['cluster', 'team/cluster'] });
  const login = { mount: 'team/cluster', role: 'ci', jwt: { file: 'ci.jwt' } };
  const stack = await bench.checkout({ clusterAuth: { token: { login } } });
  await stack.declare(role('web'));
  await stack.run(['validate'], 0);
});

it('A text that is not a JWT is not sent to the login', async () => {
  const bench = await openBench();
  const login = { mount: 'cluster', role: 'ci', jwt: { file: 'ci.jwt' } };
  const stack = await bench.checkout({ clusterAuth: { token: { login } } });
  await stack.declare(role('web'));
  await stack.write('ci.jwt', 'HunterTwoPass77');
  const { out, err } = await stack.run(['plan'], 1);
  expect((out + err).replace(/\s+/g, ' ')).toContain('the JWT that target "prod" logs in with is not a JWT');
  expect(out + err).not.toContain('HunterTwo');
  expect(bench.wire.seen.filter(({ path }) => path.includes('login'))).toEqual([]);
});
