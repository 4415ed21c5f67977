// Each path in the list of the secrets service is served, and none without the required token.
import { expect, it } from 'vitest';
import { chooseDialects } from '../../src/server/kernel/dialects.ts';
import { servedPaths } from '../../src/server/cluster-auth-endpoints.ts';
import { DIALECTS, serveLogins } from '../support/server/cluster-auth/serve-logins.ts';

/** Paths that need no token. */
const open = ['auth/:mount/login', 'sys/health', 'sys/seal-status', 'sys/leader', 'sys/internal/ui/mounts'];

/** Paths that every token may read, because the answer is about the token itself. */
const isAboutToken = /^(?:sys\/internal\/ui\/|sys\/capabilities-self|auth\/token\/\w+-self)/;

it.each(DIALECTS)('serves each path in the dialect %s, and only with a token', async (dialect) => {
  const logins = await serveLogins({
    dialect,
    seed: { 'service-tokens': [{ token: 'powerless', policies: [] }] },
  });
  for (const { method, path } of servedPaths(chooseDialects([dialect]).clusterAuth)) {
    const asked = path.replace(':mount', logins.mount).replaceAll(/:\w+/g, 'some');
    const at = async (token: string | null) => {
      const { status, errors } = await logins.send(method, asked, undefined, token);
      return { method, path, status, errors };
    };
    const served = await at('root-token');
    expect(served.errors?.join() ?? '').not.toMatch(/unsupported|no handler/);
    if (open.includes(path)) continue;
    expect(await at(null)).toEqual({ method, path, status: 403, errors: ['permission denied'] });
    if (isAboutToken.test(path)) continue;
    expect(await at('powerless')).toMatchObject({ method, path, status: 403 });
  }
});

it.each(DIALECTS)('lists each path of the dialect %s once', (dialect) => {
  const names = servedPaths(chooseDialects([dialect]).clusterAuth).map(
    ({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, ':')}`,
  );
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
