/**
 * The digest seen from outside: stacks in files, read as manifests and planned with the real kinds. It stays the same for anything that
 * a text editor, another machine or another day changes in the files, and changes with their meaning.
 */
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { dialects, findDialect } from '../../src/api/dialects.ts';
import { kinds } from '../../src/kinds/index.ts';
import { noLedger } from '../../src/ledger/ledger-text.ts';
import { type Manifests, readManifests } from '../../src/manifest/read-manifests.ts';
import { hasErrors } from '../../src/model/diagnostic.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { LiveSet } from '../../src/model/kind.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { DesiredResource, LiveResource } from '../../src/model/resource.ts';
import type { Stack } from '../../src/model/stack.ts';
import { buildPlan } from '../../src/plan/build-plan.ts';
import { role, workspace } from '../support/cli/documents.ts';
import { type StackDraft, stackDraft } from '../support/simulation/random-stacks.ts';
import { type Files, makeFolder, removeFolder } from '../support/rig/temporary-folder.ts';

/** Reads the files in a temporary folder. */
async function read(files: Files): Promise<Manifests> {
  const folder = makeFolder(files);
  try {
    return await readManifests({ cwd: folder, kinds, dialects });
  } finally {
    removeFolder(folder);
  }
}

/** What the files mean as a plan; undefined when they are not valid. */
async function planOf(files: Files): Promise<Plan | undefined> {
  const { stack, resources, diagnostics } = await read(files);
  if (stack === undefined || hasErrors(diagnostics)) return undefined;
  return planResources(stack, resources, []);
}

function planResources(
  stack: Stack,
  desired: readonly DesiredResource[],
  live: readonly DesiredResource[],
): Plan {
  const targets = stack.targets.map((target) => {
    const dialect = findDialect(target.service, target.dialect);
    if (dialect === undefined) throw new Error(target.dialect);
    const of = (kind: string): LiveSet => ({
      resources: live
        .filter(({ address }) => address.kind === kind && address.target === target.name)
        .map((resource) => asLive(resource, stack.name)),
      incomplete: [],
      invisible: [],
      notes: [],
    });
    return { target, dialect, sets: new Map([...kinds.keys()].map((kind) => [kind, of(kind)])), requests: 1 };
  });
  const reading = { targets, ledger: noLedger, manifestsComplete: true, files: 1, documents: 1 };
  return buildPlan({ stack, kinds, desired, ...reading }).plan;
}

/** A declared resource, as the service reports it to the stack that owns it. */
function asLive({ address, spec }: DesiredResource, stack: string): LiveResource {
  const ownershipTag = { stack, protect: false, release: false, inherited: false };
  return {
    address,
    id: `id-${address.name}`,
    spec: { name: address.name, ...spec },
    evidence: { ownershipTag },
    facts: {},
  };
}

interface StackAbout {
  readonly name?: string;
  readonly manifests?: string;
  readonly defaults?: JsonObject;
  readonly owns?: readonly string[] | undefined;
  /** more members of the target of workspaces */
  readonly target?: JsonObject;
}

function stackOf({
  name = 'payments',
  manifests = 'manifests',
  defaults = {},
  owns,
  target,
}: StackAbout): JsonObject {
  const common = { dialect: 'neutral', token: { env: 'TOKEN' } };
  const acme = { name: 'acme', service: 'workspaces', organization: 'acme', url: 'https://api.test' };
  const prod = { name: 'prod', service: 'cluster-auth', mount: 'cluster', url: 'https://secrets.test' };
  const targets = [
    { ...acme, ...common, ...target },
    { ...prod, ...common, ...(owns === undefined ? {} : { owns }) },
  ];
  const spec = { manifests: [manifests], targets, defaults };
  return { apiVersion: 'trueup.dev/v1', kind: 'Stack', metadata: { name }, spec };
}

type Writer = (document: Json) => string;

const plainly: Writer = (document) => dump(document);

function plainFiles({ owns, defaults, manifests }: StackDraft): Files {
  const documents = manifests.map((manifest) => ({ apiVersion: 'trueup.dev/v1', ...manifest }));
  return {
    'trueup.yaml': plainly(stackOf({ owns, defaults })),
    'manifests/all.yaml': `# all\n${documents.map((document) => `---\n${plainly(document)}`).join('')}`,
  };
}

/** One of many ways to write the same document. */
const writer: fc.Arbitrary<Writer> = fc
  .record({
    as: fc.constantFrom('block', 'flow', 'json', 'wide json'),
    indent: fc.constantFrom(1, 2, 7),
    seed: fc.integer(),
    comment: fc.constantFrom('', '# kind: Workspace\n', '\n\n#\n'),
    behind: fc.constantFrom('', ' \n', '# the end\n', '\n...\n'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
  })
  .map(({ as, indent, seed, comment, behind, lineEnd }) => (document) => {
    const turned = reordered(document, seed);
    const text = {
      block: () => dump(turned, { indent: Math.max(indent, 2) }),
      flow: () => dump(turned, { flowLevel: 2 }),
      json: () => `${JSON.stringify(turned)}\n`,
      'wide json': () => `${JSON.stringify(turned, null, indent)}\n`,
    }[as as 'block']();
    // Inside a block of text a comment would be text.
    return `${comment}${text}${behind}`.replaceAll('\n', lineEnd);
  });

/** The keys of every object in another order; lists as they are. */
function reordered(value: Json, seed: number): Json {
  if (Array.isArray(value)) return value.map((item: Json) => reordered(item, seed));
  if (typeof value !== 'object' || value === null) return value;
  const weight = (key: string) =>
    [...key].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) ^ seed, seed);
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => weight(a) - weight(b));
  return Object.fromEntries(entries.map(([key, member]) => [key, reordered(member, seed)]));
}

const fileName = fc.constantFrom('a.yaml', 'b.yml', 'deep/down/c.yaml', 'Z.yaml', 'deep/0.yaml');

/** The same stack in other files, in another order and format. */
function rewritten({ owns, defaults, manifests: all }: StackDraft): fc.Arbitrary<Files> {
  const { length } = all;
  const each = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.array(arbitrary, { minLength: length, maxLength: length });
  const order = fc.shuffledSubarray([...all], { minLength: length });
  return fc.tuple(order, each(fileName), each(writer), writer).map(([manifests, names, writers, write]) => {
    const files: Record<string, string> = {
      'trueup.yaml': write(stackOf({ owns, defaults })),
      'manifests/none.yaml': '# none\n',
    };
    manifests.forEach((manifest, index) => {
      const path = `manifests/${names[index]}`;
      const text = writers[index]?.({ apiVersion: 'trueup.dev/v1', ...manifest }) ?? '';
      files[path] = `${files[path] ?? ''}\n---\n${text}`;
    });
    return files;
  });
}

const runs = { numRuns: 100 };

describe('The digest of a plan stays the same', () => {
  it('for any files, order, format and folders of its manifests', async () => {
    const twice = stackDraft.chain((draft) => rewritten(draft).map((files) => ({ draft, files })));
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(twice, async ({ draft, files }) => {
        const plain = await planOf(plainFiles(draft));
        fc.pre(plain !== undefined);
        compared += 1;
        const other = await planOf(files);
        expect(other?.digest).toBe(plain?.digest);
      }),
      { ...runs, maxSkipsPerRun: 10 },
    );
    expect(compared).toBeGreaterThanOrEqual(runs.numRuns);
  });

  it.each<[string, object, object]>([
    ['a duration in seconds', { tokenTtl: '1h' }, { tokenTtl: 3600 }],
    ['a duration in another unit', { tokenTtl: '1h' }, { tokenTtl: '60m' }],
    ['a set in another order', { policies: ['a', 'b'] }, { policies: ['b', 'a', 'b'] }],
    ['a service account named twice', {}, { boundServiceAccountNames: ['app', 'app'] }],
  ])('for a role with %s', async (_, one, other) => {
    const digests = await Promise.all([one, other].map((spec) => digestOf([role('web', spec)])));
    expect(digests[0]).toBe(digests[1]);
  });

  it('whether a value is in the manifest, in its short form, or in the defaults of the stack', async () => {
    const spelt = await digestOf([
      workspace('app', { autoApply: true }),
      { ...workspace('app', { tags: { env: 'prod' } }), kind: 'TagBindings' },
    ]);
    expect(await digestOf([workspace('app', { autoApply: true, tags: { env: 'prod' } })])).toBe(spelt);
    const defaults = { Workspace: { autoApply: true } };
    expect(await digestOf([workspace('app', { tags: { env: 'prod' } })], { defaults })).toBe(spelt);
  });
});

describe('The digest of a plan changes', () => {
  /** What a reviewer compares in two plans: the actions, and their fields. */
  const meaning = ({ changes }: Plan) =>
    changes
      .flatMap(({ address, action, fields }) => [
        JSON.stringify([address, action]),
        ...fields.map(({ path, before, after, unknown }) =>
          JSON.stringify([address, path, before, after, unknown]),
        ),
      ])
      .sort()
      .join('\n');

  it('exactly when the result for the live resources would differ', async () => {
    const pair = fc.tuple(stackDraft, stackDraft, fc.boolean()).map(([one, other, isEdit]) => ({
      one,
      // Another stack, or this one with one document of the other.
      other: isEdit
        ? { ...one, manifests: [...one.manifests.slice(1), ...other.manifests.slice(0, 1)] }
        : other,
    }));
    await fc.assert(
      fc.asyncProperty(pair, async ({ one, other }) => {
        const plans = [await planOf(plainFiles(one)), await planOf(plainFiles(other))];
        const [a, b] = plans;
        fc.pre(a !== undefined && b !== undefined);
        if (a === undefined || b === undefined) return;
        expect(a.digest === b.digest).toBe(meaning(a) === meaning(b));
      }),
      { ...runs, maxSkipsPerRun: 20 },
    );
  });

  const app = workspace('app', { autoApply: true, tags: { env: 'prod' }, remoteStateConsumers: ['db'] });
  const before = [app, workspace('db'), role('web', { policies: ['read'] })];
  const withApp = (spec: object, metadata: object = {}) => [
    workspace(
      'app',
      { autoApply: true, tags: { env: 'prod' }, remoteStateConsumers: ['db'], ...spec },
      metadata,
    ),
    ...before.slice(1),
  ];
  const withRole = (spec: object) => [app, workspace('db'), role('web', { policies: ['read'], ...spec })];

  it.each<[string, readonly object[]]>([
    ['one role less', before.slice(0, 2)],
    ['one workspace more', [...before, workspace('third')]],
    ['another value', withApp({ autoApply: false })],
    ['one field more', withApp({ description: 'the app' })],
    ['a null for a field that was not managed', withApp({ workingDirectory: null })],
    ['the value of one tag', withApp({ tags: { env: 'dev' } })],
    ['one tag more', withApp({ tags: { env: 'prod', team: 'pay' } })],
    ['no tags instead of some', withApp({ tags: {} })],
    ['no consumer', withApp({ remoteStateConsumers: [] })],
    ['protection', withApp({}, { protect: true })],
    ['release instead of deletion', withApp({}, { onRemove: 'release' })],
    ['one policy more', withRole({ policies: ['read', 'write'] })],
    ['a longer token TTL', withRole({ tokenTtl: '2h' })],
    ['another namespace', withRole({ boundServiceAccountNamespaces: ['payments', 'ops'] })],
    ['no audience', withRole({ audience: null })],
    ['another role name', [app, workspace('db'), role('web-2', { policies: ['read'] })]],
  ])('with %s', async (_, after) => {
    expect(await digestOf(after)).not.toBe(await digestOf(before));
  });

  it.each<[string, StackAbout]>([
    ['name of the stack', { name: 'billing' }],
    ['URL of a target', { target: { url: 'https://other.test' } }],
    ['organization', { target: { organization: 'other' } }],
    ['dialect', { target: { dialect: 'hcp-terraform' } }],
  ])('with another %s', async (_, about) => {
    expect(await digestOf(before, about)).not.toBe(await digestOf(before));
  });

  it('with the live values before the change', async () => {
    const declared = [role('web', { policies: ['read'] }, { adopt: true })];
    const digests = await Promise.all(
      [['write'], ['write', 'sudo'], []].map((policies) =>
        digestOf(declared, {}, [role('web', { policies })]),
      ),
    );
    expect(new Set(digests).size).toBe(3);
  });
});

/** @param found documents that describe what is live before */
async function digestOf(
  documents: readonly object[],
  about: StackAbout = {},
  found: readonly object[] = [],
): Promise<string> {
  const filesOf = (all: readonly object[]): Files => ({
    'trueup.yaml': JSON.stringify(stackOf({ manifests: 'all.yaml', ...about })),
    'all.yaml': `# all\n${all.map((document) => `---\n${JSON.stringify(document)}\n`).join('')}`,
  });
  const { stack, resources, diagnostics } = await read(filesOf(documents));
  if (stack === undefined || hasErrors(diagnostics)) throw new Error(JSON.stringify(diagnostics));
  const live = await read(filesOf(found));
  return planResources(stack, resources, live.resources).digest;
}
