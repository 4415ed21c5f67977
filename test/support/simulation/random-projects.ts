/**
 * Projects in random stacks: with and without tags and durations, workspaces that refer to them by name, and manual changes of
 * projects by others. Not in `random-stacks.ts`, because storms and digests have no projects.
 */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { projectTagKey } from '../../../src/api/workspaces/tag-bindings.ts';
import { drift, type HandAction } from './random-actions.ts';
import { type Manifest, type StackDraft, stackDraft, tags } from './random-stacks.ts';
import { legacyProject, neighbours } from './world.ts';

/** `cash` is the new name of `money` after a rename. */
const projectNames = ['money', 'ops', 'cash', legacyProject] as const;

const execution = fc.constantFrom<JsonObject>(
  {},
  {},
  { defaultExecutionMode: null },
  { defaultExecutionMode: 'remote' },
  { defaultExecutionMode: 'local' },
  { defaultExecutionMode: 'remote', defaultAgentPoolId: null },
  { defaultExecutionMode: 'agent', defaultAgentPoolId: neighbours.pools[0] },
  { defaultExecutionMode: 'agent', defaultAgentPool: 'inherited' },
);

const plain = fc.record<Record<string, Json>>(
  {
    description: fc.constantFrom<Json>('one line', 'two\nlines\n', '', null),
    autoDestroyActivityDuration: fc.constantFrom<Json>('14d', '36h', null),
    tags: fc.oneof({ weight: 4, arbitrary: tags }, { weight: 1, arbitrary: fc.constant(null) }),
  },
  { requiredKeys: [] },
);

const care = fc.oneof(
  { withCrossShrink: true },
  { weight: 5, arbitrary: fc.constant<JsonObject>({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonObject>(
      { protect: true },
      { onRemove: 'release' },
      { onRemove: 'delete' },
    ),
  },
);

function metadataOf(name: string): JsonObject & { name: string } {
  if (name === legacyProject) return { name, adopt: true };
  return name === 'cash' ? { name, renamedFrom: 'money' } : { name };
}

const projects: fc.Arbitrary<Manifest[]> = fc
  .subarray([...projectNames])
  .map((names) => names.filter((name) => name !== 'cash' || !names.includes('money')))
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.tuple(execution, plain, care).map(
          ([mode, more, kept]): Manifest => ({
            kind: 'Project',
            metadata: { ...metadataOf(name), ...kept },
            spec: { ...mode, ...more },
          }),
        ),
      ),
    ),
  );

/** Puts some workspaces of the draft into these projects, and into one that no stack declares, by name. */
function placed(draft: StackDraft, declared: readonly Manifest[], places: readonly number[]): StackDraft {
  const names = [...declared.map(({ metadata: { name } }) => name), 'plain'];
  const manifests = draft.manifests.map((manifest, index) => {
    const name = names[(places[index % places.length] ?? 0) - 1];
    if (name === undefined || manifest.kind !== 'Workspace' || manifest.spec === undefined) return manifest;
    const { projectId: _, ...spec } = manifest.spec;
    return { ...manifest, spec: { ...spec, project: name } };
  });
  return { ...draft, manifests: [...declared, ...manifests] };
}

const withProjects: fc.Arbitrary<StackDraft> = fc
  .tuple(
    stackDraft,
    projects,
    fc.array(fc.nat({ max: projectNames.length + 3 }), { minLength: 4, maxLength: 4 }),
  )
  .map(([draft, declared, places]) => placed(draft, declared, places));

export const stackWithProjects: fc.Arbitrary<StackDraft> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: stackDraft },
  { weight: 2, arbitrary: withProjects },
);

const nameOf = fc.constantFrom(...projectNames);

function patch(attributes: JsonObject, relationships: JsonObject = {}): JsonObject {
  return { data: { type: 'projects', attributes, relationships } };
}

/** The body of a PATCH that replaces all tags. */
function bound(values: JsonObject): JsonObject {
  const data = Object.entries(values).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value: value ?? '' },
  }));
  return patch({}, { 'tag-bindings': { data } });
}

const settings: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { description: 'by hand' },
  { 'auto-destroy-activity-duration': '2d' },
  { 'auto-destroy-activity-duration': null },
  { 'default-execution-mode': 'local' },
  { 'default-execution-mode': 'agent', 'default-agent-pool-id': neighbours.pools[1] },
  { 'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false } },
);

function on(name: string, method: HandAction['method'], body?: JsonObject): HandAction {
  return { who: 'owner', method, path: `project/${name}`, ...(body === undefined ? {} : { body }) };
}

const byHand: fc.Arbitrary<HandAction> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(nameOf, settings).map(([name, body]) => on(name, 'PATCH', patch(body))) },
  {
    weight: 3,
    arbitrary: fc.tuple(nameOf, tags, fc.boolean()).map(([name, values, keeps]) => ({
      ...on(name, 'PATCH', bound(values)),
      ...(keeps ? { keepsOwnership: true as const } : {}),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nameOf, fc.constantFrom('loop', 'loop:protect', 'others'))
      .map(([name, owner]) => on(name, 'PATCH', bound({ [projectTagKey]: owner }))),
  },
  {
    weight: 2,
    arbitrary: nameOf.map((name) => on(name, 'PATCH', patch({ name: `${name}-by-hand` }))),
  },
  { weight: 2, arbitrary: nameOf.map((name) => on(name, 'DELETE')) },
);

/** Changes of workspaces, the mount and projects. */
export const driftWithProjects: fc.Arbitrary<readonly HandAction[]> = fc
  .tuple(drift, fc.array(byHand, { maxLength: 2 }))
  .map((parts) => parts.flat());
