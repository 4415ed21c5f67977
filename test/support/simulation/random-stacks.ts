/** Random stacks: some workspaces with their children, some roles, sometimes a config, and defaults. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { configSpec, roleSpec } from './random-cluster-auth.ts';
import { workspaceSpec } from './random-workspaces.ts';
import { annex, bystander, legacy } from './world.ts';

export type Manifest = {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
  /** absent in a removal request */
  readonly spec?: JsonObject;
};

export interface StackDraft {
  /** `owns` of the targets for roles */
  readonly owns: readonly string[] | undefined;
  /** whether these targets are exclusive */
  readonly exclusive?: boolean;
  /** whether the stack has a second mount, so that every role and config must name its target */
  readonly spare?: boolean;
  readonly defaults: JsonObject;
  readonly manifests: readonly Manifest[];
}

/** The names of workspaces that stacks declare. `moved` is the new name of `app` after a rename. */
export const workspaceNames = ['app', 'db', 'Web_1', 'moved', legacy] as const;
export const roleNames = ['pay-api', 'Pay-Worker', 'pay.batch_2'] as const;
export const ownedRoles = 'pay*';

export const tags: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('env', 'team', 'cost-owner', 'a.b=c', 'constructor', '__proto__', 'x@y:z'),
  fc.constantFrom<Json>('prod', 'me@x:1', '', null),
  { maxKeys: 5, noNullPrototype: true },
);

const keep = fc.constantFrom<Json>(['cost-*'], ['*'], ['unrelated', 'a*']);

/** The tags of a workspace: not managed, in the document of the workspace, or in a separate document. */
function tagsOf(name: string): fc.Arbitrary<Child> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: fc.constant<Child>({ spec: {}, documents: [] }) },
    {
      weight: 2,
      arbitrary: fc
        .oneof(tags, fc.constant(null))
        .map((value): Child => ({ spec: { tags: value }, documents: [] })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.oneof(tags, fc.constant(null)), fc.option(keep, { nil: undefined }))
        .map(([value, kept]): Child => ({ spec: {}, documents: [tagBindings(name, value, kept)] })),
    },
  );
}

interface Child {
  readonly spec: JsonObject;
  readonly documents: readonly Manifest[];
}

function tagBindings(name: string, value: Json, kept: Json | undefined): Manifest {
  return {
    kind: 'TagBindings',
    metadata: { name },
    spec: { tags: value, ...(kept === undefined ? {} : { keep: kept }) },
  };
}

/** The consumers of the state: everyone, a list, or not managed. */
function sharingOf(name: string, names: readonly string[]): fc.Arbitrary<Child> {
  const others = [...names.filter((other) => other !== name), bystander];
  const consumers: fc.Arbitrary<Json> = fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: fc.shuffledSubarray(others) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const notGlobal = fc.constantFrom<JsonObject>(
    { globalRemoteState: false },
    { globalRemoteState: null },
    { globalRemoteState: false },
    {},
  );
  return fc.oneof(
    { withCrossShrink: true },
    fc.constant<Child>({ spec: {}, documents: [] }),
    fc
      .constantFrom<Json>(true, true, false, null)
      .map((globalRemoteState): Child => ({ spec: { globalRemoteState }, documents: [] })),
    fc
      .tuple(consumers, notGlobal)
      .map(([list, rest]): Child => ({ spec: { ...rest, remoteStateConsumers: list }, documents: [] })),
    fc.tuple(consumers, notGlobal).map(
      ([list, rest]): Child => ({
        spec: rest,
        documents: [{ kind: 'RemoteStateConsumers', metadata: { name }, spec: { consumers: list } }],
      }),
    ),
  );
}

const care = fc.oneof(
  { withCrossShrink: true },
  { weight: 6, arbitrary: fc.constant<JsonObject>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonObject>(
      { protect: true },
      { protect: false },
      { onRemove: 'release' },
      { onRemove: 'delete' },
      { target: 'acme' },
    ),
  },
);

/** Metadata that depends on the name: `legacy` exists already, `moved` was called `app`. */
function metadataOf(name: string): JsonObject & { name: string } {
  if (name === legacy) return { name, adopt: true };
  return name === 'moved' ? { name, renamedFrom: 'app' } : { name };
}

function workspaceManifests(name: string, names: readonly string[]): fc.Arbitrary<Manifest[]> {
  return fc.tuple(workspaceSpec, care, tagsOf(name), sharingOf(name, names)).map(([spec, more, ...parts]) => [
    {
      kind: 'Workspace',
      metadata: { ...metadataOf(name), ...more },
      spec: Object.assign({}, spec, ...parts.map((part) => part.spec)),
    },
    ...parts.flatMap(({ documents }) =>
      documents.map((document) => ({ ...document, metadata: { ...metadataOf(name), ...document.metadata } })),
    ),
  ]);
}

/** Documents for children of a workspace that this stack does not declare. */
const childrenOfAnnex: fc.Arbitrary<Manifest[]> = fc.oneof(
  { withCrossShrink: true },
  { weight: 6, arbitrary: fc.constant<Manifest[]>([]) },
  {
    weight: 1,
    arbitrary: tags.map((value): Manifest[] => [
      { kind: 'TagBindings', metadata: { name: annex, adopt: true }, spec: { tags: value } },
    ]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<Json>([bystander], [], null)
      .map((consumers): Manifest[] => [
        { kind: 'RemoteStateConsumers', metadata: { name: annex, adopt: true }, spec: { consumers } },
      ]),
  },
);

/** Removal requests for some of the resources that the stack does not declare. */
function removalRequests(kind: string, undeclared: readonly string[]): fc.Arbitrary<Manifest[]> {
  const removalRequest = (name: string, remove: string): Manifest => ({ kind, metadata: { name, remove } });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 5, arbitrary: fc.constant<Manifest[]>([]) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.subarray([...undeclared]), fc.constantFrom('safe', 'force'))
        .map(([names, remove]) => names.map((name) => removalRequest(name, remove))),
    },
  );
}

const workspaces: fc.Arbitrary<Manifest[]> = fc
  .subarray([...workspaceNames])
  .map((names) => names.filter((name) => name !== 'moved' || !names.includes('app')))
  .chain((names) =>
    fc.tuple(
      childrenOfAnnex,
      removalRequests(
        'Workspace',
        workspaceNames.filter((name) => name !== 'moved' && !names.includes(name)),
      ),
      ...names.map((name) => workspaceManifests(name, names)),
    ),
  )
  .map((manifests) => manifests.flat());

const adopt = fc.constantFrom<JsonObject>({}, { adopt: true });

/** The targets of a role or a config; one document may be for both. */
function mountOf(spare: boolean): fc.Arbitrary<JsonObject> {
  const one = fc.constantFrom<JsonObject>({}, {}, {}, { target: 'prod' });
  if (!spare) return one;
  return fc.constantFrom<JsonObject>({ targets: ['prod', 'spare'] }, { target: 'prod' }, { target: 'spare' });
}

function inMount(spare: boolean, manifests: fc.Arbitrary<Manifest[]>): fc.Arbitrary<Manifest[]> {
  return fc.tuple(manifests, fc.infiniteStream(mountOf(spare))).map(([all, mounts]) =>
    all.map((manifest) => ({
      ...manifest,
      metadata: { ...manifest.metadata, ...(mounts.next().value ?? {}) },
    })),
  );
}

const roles: fc.Arbitrary<Manifest[]> = fc
  .subarray([...roleNames])
  .chain((names) =>
    fc.tuple(
      removalRequests(
        'ClusterAuthRole',
        roleNames.filter((name) => !names.includes(name)),
      ),
      ...names.map((name) =>
        fc.tuple(roleSpec, adopt, care).map(([spec, more, kept]): Manifest[] => {
          const { target: _, ...metadata } = kept;
          return [{ kind: 'ClusterAuthRole', metadata: { name, ...more, ...metadata }, spec }];
        }),
      ),
    ),
  )
  .map((manifests) => manifests.flat());

const config: fc.Arbitrary<Manifest[]> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constant<Manifest[]>([]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(configSpec, adopt)
      .map(([spec, more]): Manifest[] => [
        { kind: 'ClusterAuthConfig', metadata: { name: 'config', ...more }, spec },
      ]),
  },
);

const defaults: fc.Arbitrary<JsonObject> = fc.oneof(
  { withCrossShrink: true },
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record<Record<string, Json>>(
      {
        Workspace: fc.constantFrom<Json>(
          { executionMode: 'remote', allowDestroyPlan: false },
          { operations: false },
          { tags: { managed: 'yes' }, autoApply: true },
          { globalRemoteState: false, remoteStateConsumers: [] },
          { description: 'from the defaults', tagNames: ['ours'] },
        ),
        TagBindings: fc.constantFrom<Json>({ keep: ['cost-*'] }, { tags: { managed: 'yes' } }),
        ClusterAuthRole: fc.constantFrom<Json>(
          { audience: 'vault', tokenTtl: '1m' },
          { policies: ['default-read'] },
        ),
      },
      { requiredKeys: [] },
    ),
  },
);

const ownership = fc.constantFrom<Pick<StackDraft, 'owns' | 'exclusive'>>(
  { owns: undefined },
  { owns: [ownedRoles] },
  { owns: [ownedRoles, 'other-*'] },
  { owns: [ownedRoles], exclusive: true },
);

function stackWith(spare: boolean): fc.Arbitrary<StackDraft> {
  const manifests = fc.tuple(workspaces, inMount(spare, roles), inMount(spare, config));
  return fc
    .tuple(ownership, fc.record({ defaults, manifests: manifests.map((parts) => parts.flat()) }))
    .map(([owned, rest]) => ({ ...owned, ...(spare ? { spare } : {}), ...rest }));
}

export const stackDraft: fc.Arbitrary<StackDraft> = fc.oneof(
  { withCrossShrink: true },
  { weight: 5, arbitrary: stackWith(false) },
  { weight: 1, arbitrary: stackWith(true) },
);
