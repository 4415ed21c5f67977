/**
 * The corpus in a few commands: all cases of the workspaces kinds are one stack, with an organization for each, in every dialect of their
 * API. `corpus.test.ts` (`npm run test:slow`) tests them one by one, there and back again; `corpus-dialects.test.ts` has the other kinds.
 */
import { it } from 'vitest';
import { workspacesDialects } from './support/rig/dialect-under-test.ts';
import { expectEveryCase } from './support/corpus-as-one-stack.ts';

it.each(workspacesDialects)(
  'in the dialect %s every case of the workspaces kinds is applied, and then a plan has no changes',
  async (dialect) => {
    await expectEveryCase({ dialect });
  },
  600_000,
);
