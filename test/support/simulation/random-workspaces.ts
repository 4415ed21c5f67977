/**
 * Random specs of a Workspace: every field in all of its spellings, absent as often as present, and only combinations that the
 * service accepts. Ids of neighbours are those of `world.ts`.
 */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { neighbours } from './world.ts';

type Fields = Readonly<Record<string, Json>>;

const flag = fc.constantFrom<Json>(true, false, null);

/** Some of the given fields; each is absent in half of the cases. */
function some(fields: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Fields> {
  return fc.record<Record<string, Json>>({ ...fields }, { requiredKeys: [] });
}

/** Mode, pool and inheritance depend on each other; the organization has a pool to inherit. */
const execution: fc.Arbitrary<Fields> = fc.oneof(
  { withCrossShrink: true },
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Fields>(
      { executionMode: 'remote' },
      { executionMode: 'local' },
      { executionMode: null },
      { executionMode: 'agent', agentPoolId: neighbours.pools[0] },
      { executionMode: 'agent', agentPoolId: neighbours.pools[1] },
    ),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Fields>(
      { operations: true },
      { operations: false },
      { operations: null },
      { executionMode: 'remote', agentPoolId: null },
      { executionMode: null, agentPoolId: null },
      { executionMode: null, settingOverwrites: { executionMode: false, agentPool: false } },
      { settingOverwrites: { executionMode: false } },
      { executionMode: 'remote', settingOverwrites: { executionMode: true, agentPool: true } },
      { executionMode: 'local', settingOverwrites: { agentPool: false } },
      { executionMode: 'agent', settingOverwrites: { agentPool: false } },
      {
        executionMode: 'agent',
        agentPoolId: neighbours.pools[0],
        settingOverwrites: { executionMode: true, agentPool: true },
      },
    ),
  },
);

const connection = fc.constantFrom<Fields>(
  { oauthTokenId: neighbours.oauthTokens[0] },
  { oauthTokenId: neighbours.oauthTokens[1] },
  { vcsAppInstallationId: neighbours.appInstallations[0] },
);

function repository(more: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(
      fc.constantFrom('acme/network', 'acme/app', 'acme/deep/er'),
      connection,
      some({
        branch: fc.constantFrom<Json>('main', 'release/1', '', null),
        ingressSubmodules: flag,
        ...more,
      }),
    )
    .map(([identifier, connected, rest]) => ({ identifier, ...connected, ...rest }));
}

const paths = fc.constantFrom<Json>(['/a'], ['/a', 'b/c'], ['b/c', '/a'], ['modules']);
const noPaths = fc.constantFrom<Json>([], null);

/** At most one of prefixes, patterns and a regular expression is set; the expression excludes file triggers. */
const sourceControl: fc.Arbitrary<Fields> = fc.oneof(
  { withCrossShrink: true },
  fc
    .tuple(
      fc.oneof(
        some({ triggerPrefixes: noPaths, triggerPatterns: noPaths }),
        some({ triggerPrefixes: paths, triggerPatterns: noPaths }),
        some({ triggerPrefixes: noPaths, triggerPatterns: paths }),
      ),
      some({
        fileTriggersEnabled: flag,
        vcsRepo: fc.oneof(
          { weight: 4, arbitrary: fc.constant<Json>(null) },
          { weight: 4, arbitrary: repository({}) },
          { weight: 4, arbitrary: repository({ tagsRegex: fc.constantFrom<Json>(null, '') }) },
          // Some members of a repository, for workspaces that already have one.
          {
            weight: 1,
            arbitrary: fc.constantFrom<Json>(
              { branch: 'release/2' },
              { ingressSubmodules: true, branch: null },
            ),
          },
        ),
      }),
    )
    .map(([triggers, rest]) => ({ ...triggers, ...rest })),
  fc
    .tuple(
      some({ triggerPrefixes: noPaths, triggerPatterns: noPaths, fileTriggersEnabled: fc.constant(false) }),
      repository({}),
      fc.constantFrom('^v\\d+$', '\\d+\\.\\d+'),
    )
    .map(([triggers, repo, tagsRegex]) => ({ ...triggers, vcsRepo: { ...repo, tagsRegex } })),
);

const plain = some({
  description: fc.constantFrom<Json>('one line', 'two\nlines\n', ' spaces ', '', null),
  allowDestroyPlan: flag,
  assessmentsEnabled: flag,
  autoApply: flag,
  autoApplyRunTrigger: flag,
  queueAllRuns: flag,
  speculativeEnabled: flag,
  autoDestroyAt: fc.constantFrom<Json>(
    '2031-01-31T08:00:00Z',
    '2031-01-31T09:00:30+01:00',
    '2032-02-01T00:00:00.500Z',
    null,
  ),
  autoDestroyActivityDuration: fc.constantFrom<Json>('14d', '36h', null),
  engineVersion: fc.constantFrom<Json>('1.9.1', '~> 1.9.0', '>= 1.6, < 2.0', 'latest'),
  workingDirectory: fc.constantFrom<Json>('envs/prod', './envs/prod/', '', null),
});

const beside = some({
  projectId: fc.constantFrom<Json>(...neighbours.projects),
  sshKeyId: fc.constantFrom<Json>(...neighbours.sshKeys, null),
  tagNames: fc.oneof(
    fc.constantFrom<Json>(null, []),
    fc
      .uniqueArray(fc.constantFrom('one', 'Two', 'three:3', 'a-b_c'), { minLength: 1 })
      .map((names): Json => names),
  ),
  lock: fc.constantFrom<Json>({}, { reason: 'frozen' }, { reason: 'thawing' }, null),
  dataRetentionPolicy: fc.constantFrom<Json>(
    { deleteOlderThanNDays: 30 },
    { deleteOlderThanNDays: 7 },
    { dontDelete: true },
    null,
  ),
  sourceName: fc.constantFrom<Json>('a script'),
  sourceUrl: fc.constantFrom<Json>('https://example.com/why'),
});

/** Without the short forms and without `globalRemoteState`, which depends on the consumers. */
export const workspaceSpec: fc.Arbitrary<Fields> = fc
  .tuple(execution, sourceControl, plain, beside)
  .map((parts) => withAssessableMode(Object.assign({}, ...parts)));

/** Health assessments need the mode `remote`, so a spec with them declares it: others may have changed the live mode. */
function withAssessableMode(spec: Fields): Fields {
  const isRemote = spec['executionMode'] === 'remote' || spec['operations'] === true;
  return isRemote || spec['assessmentsEnabled'] !== true ? spec : { ...spec, assessmentsEnabled: false };
}
