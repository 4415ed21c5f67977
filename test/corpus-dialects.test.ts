/**
 * The corpus of the cluster-auth kinds again, with the embedded service in dialects of real services. All pairs of a kind are
 * one stack with a mount for each, so that a few commands test all pairs that `corpus.test.ts` tests one by one.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { adjustableGuardIds } from '../src/model/guard.ts';
import { corpusCases, corpusDocuments, corpusEnv } from './support/corpus.ts';
import { startService } from './support/rig/embedded-service.ts';
import { clusterAuthTarget, type StackFolder, stackIn } from './support/rig/stack-folder.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';
import { fixtures } from './support/server/cluster-auth/replay/vectors.ts';

/** Opens a stack with these targets, and a service with the dialect in a pod, so that a config needs no CA. */
async function openStack(dialect: string, names: readonly string[]): Promise<StackFolder> {
  const inPod = temporaryFolder({ 'ca.crt': fixtures().certs.ca.certificate, token: 'pod-token' });
  const server = await startService({
    dialects: [dialect],
    inPod,
    relaxed: true,
    seed: { mounts: [...names], 'service-tokens': [{ token: corpusEnv.SERVICE_TOKEN, policies: ['root'] }] },
  });
  onTestFinished(() => server.close());
  const targets = names.map((name) => clusterAuthTarget(server.url, { name, dialect, mount: name }));
  const spec = { guards: { maxDeletes: 1000, allow: adjustableGuardIds } };
  return stackIn({ directory: temporaryFolder(), stack: { name: 'corpus', targets, spec }, env: corpusEnv });
}

/** One side of all pairs: each document names its target. */
function sideOf(kind: string, names: readonly string[], side: 'before' | 'after'): readonly object[] {
  return names.flatMap((name) => corpusDocuments({ kind, name, side }, name));
}

/** Pairs that one service refuses and the others accept: the second side has no CA, and disables the CA of the pod. */
const refused: Readonly<Record<string, readonly string[]>> = {
  openbao: ['cluster-ca-cert-absent', 'cluster-ca-cert-null'],
};

function pairsOf(kind: string, dialect: string): string[] {
  return corpusCases(kind, dialect).filter((name) => refused[dialect]?.includes(name) !== true);
}

/** The targets in which a plan has changes. */
async function changedTargets(stack: StackFolder): Promise<string[]> {
  const { changes } = await stack.plan();
  return [...new Set(changes.map(({ target }) => target))].toSorted();
}

describe.each(['neutral', 'vault', 'openbao'])(
  'in the dialect %s, after an apply the next plan is empty',
  (dialect) => {
    it.each(['ClusterAuthConfig', 'ClusterAuthRole'])(
      '%s: every pair, there and back again',
      async (kind) => {
        const names = pairsOf(kind, dialect);
        const different = names.filter((name) => !name.startsWith('same'));
        const stack = await openStack(dialect, names);
        for (const [side, changed] of [
          ['before', names],
          ['after', different],
          ['before', different],
        ] as const) {
          await stack.declare(...sideOf(kind, names, side));
          expect(await changedTargets(stack)).toEqual(changed);
          // Apply plans again after its writes, and would end with 6 if that plan had changes.
          const { out } = await stack.run(['apply', '--yes'], 0);
          expect(out).not.toMatch(/with another value than sent|cannot be verified/);
        }
      },
    );
  },
);

it.each(Object.entries(refused))('values that %s would refuse are an error', async (dialect, names) => {
  const stack = await openStack(dialect, names);
  await stack.declare(...sideOf('ClusterAuthConfig', names, 'after'));
  const { out, err } = await stack.run(['validate'], 7);
  const refusals = (out + err)
    .replaceAll(/\s+/g, ' ')
    .match(/must be given when "disableLocalCaJwt" is true/g);
  expect(refusals).toHaveLength(names.length);
});
