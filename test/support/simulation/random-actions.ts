/** Changes by other people without trueup: plain API calls as data, some of which the service refuses. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { publicKey } from '../kinds/cluster-auth-config/pem-samples.ts';
import { roleNames, tags, workspaceNames } from './random-stacks.ts';
import { bystander, legacy, neighbours } from './world.ts';

export interface HandAction {
  readonly who: 'owner' | 'other';
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** `workspace/app` and below, or `project/money`, or `role/pay-api`, or `config` */
  readonly path: string;
  readonly body?: JsonObject;
  /** add the ownership tag of the workspace or project to the tag bindings of the body */
  readonly keepsOwnership?: true;
}

const nameOf = fc.constantFrom(...workspaceNames);

function patch(attributes: JsonObject, relationships: JsonObject = {}): JsonObject {
  return { data: { type: 'workspaces', attributes, relationships } };
}

const settings: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { description: 'by hand', 'assessments-enabled': true },
  { 'auto-apply': true, 'queue-all-runs': true, 'speculative-enabled': false, 'allow-destroy-plan': false },
  { 'execution-mode': 'local' },
  { 'execution-mode': 'agent', 'agent-pool-id': neighbours.pools[1] },
  { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } },
  { 'global-remote-state': true },
  { 'global-remote-state': false },
  { 'trigger-prefixes': ['by-hand'] },
  { 'trigger-patterns': ['**/by-hand'] },
  { 'vcs-repo': null },
  { 'vcs-repo': { identifier: 'acme/by-hand', 'oauth-token-id': neighbours.oauthTokens[1] } },
  { 'vcs-repo': { 'tags-regex': 'by-hand' } },
  { 'vcs-repo': { 'vcs-app-installation-id': neighbours.appInstallations[0] } },
  { 'file-triggers-enabled': false },
  { 'auto-destroy-at': '2030-01-01T00:00:00Z', 'auto-destroy-activity-duration': '2d' },
  { 'auto-destroy-at': null, 'auto-destroy-activity-duration': null },
  { 'engine-version': '1.8.0', 'working-directory': 'by-hand' },
);

const ofWorkspace: fc.Arbitrary<HandAction> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(nameOf, settings).map(([name, body]) => on(name, 'PATCH', patch(body))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nameOf, fc.constantFrom(...neighbours.projects))
      .map(([name, id]) => on(name, 'PATCH', patch({}, { project: { data: { type: 'projects', id } } }))),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(nameOf, tags, fc.boolean()).map(([name, values, keeps]) => ({
      ...on(name, 'PATCH', patch({}, { 'tag-bindings': { data: bindings(values) } })),
      ...(keeps ? { keepsOwnership: true as const } : {}),
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nameOf, fc.constantFrom('loop', 'loop:protect', 'loop:release', 'others'))
      .map(([name, ownershipTag]) =>
        on(name, 'PATCH', patch({}, { 'tag-bindings': { data: [ownershipBinding(ownershipTag)] } })),
      ),
  },
  {
    weight: 1,
    arbitrary: nameOf.map((name) => on(name, 'PATCH', patch({ name: `${name}-by-hand` }))),
  },
  { weight: 1, arbitrary: nameOf.map((name) => on(name, 'DELETE')) },
  {
    weight: 2,
    arbitrary: fc.tuple(nameOf, fc.constantFrom('owner', 'other'), fc.constantFrom('lock', 'unlock')).map(
      ([name, who, action]): HandAction => ({
        ...on(`${name}/actions/${action}`, 'POST', action === 'lock' ? { reason: 'by hand' } : {}),
        who: who === 'owner' ? 'owner' : 'other',
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(nameOf, fc.constantFrom('POST', 'DELETE', 'PATCH'), fc.subarray([bystander, legacy, 'db']))
      .map(
        ([name, method, ids]): HandAction => ({
          ...on(`${name}/relationships/remote-state-consumers`, 'PATCH', {
            data: ids.map((id) => ({ type: 'workspaces', id: `workspace/${id}` })),
          }),
          method: method === 'POST' ? 'POST' : method === 'PATCH' ? 'PATCH' : 'DELETE',
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(nameOf, fc.constantFrom<Json>(null, ...neighbours.sshKeys))
      .map(([name, id]) => on(`${name}/relationships/ssh-key`, 'PATCH', patch({ id }))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(nameOf, fc.boolean()).map(
      ([name, adds]): HandAction => ({
        ...on(`${name}/relationships/tags`, 'POST', {
          data: [{ type: 'tags', attributes: { name: adds ? 'by-hand' : 'one' } }],
        }),
        method: adds ? 'POST' : 'DELETE',
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: nameOf.map((name) =>
      on(`${name}/relationships/data-retention-policy`, 'POST', {
        data: { type: 'data-retention-policy-dont-deletes', attributes: {} },
      }),
    ),
  },
);

function on(path: string, method: HandAction['method'], body?: JsonObject): HandAction {
  return { who: 'owner', method, path: `workspace/${path}`, ...(body === undefined ? {} : { body }) };
}

function bindings(values: JsonObject): Json {
  return Object.entries(values).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value: value ?? '' },
  }));
}

/** The tag binding of an ownership tag, in the format of the service. */
export function ownershipBinding(value: string, key = ownershipTagKey): Json {
  return { type: 'tag-bindings', attributes: { key, value } };
}

const ofMount: fc.Arbitrary<HandAction> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...roleNames, 'pay-by-hand'),
      fc.constantFrom<JsonObject>(
        { bound_service_account_names: ['by-hand'], bound_service_account_namespaces: ['x'] },
        { token_policies: ['by-hand'], token_ttl: 77 },
        { token_max_ttl: 100, token_bound_cidrs: ['10.9.9.9'] },
        { bound_service_account_namespace_selector: '{"matchLabels":{"by":"hand"}}', audience: 'by-hand' },
        { policies: ['by-hand'], ttl: '5m' },
      ),
    )
    .map(([name, body]): HandAction => ({ who: 'owner', method: 'POST', path: `role/${name}`, body })),
  fc
    .constantFrom(...roleNames)
    .map((name): HandAction => ({ who: 'owner', method: 'DELETE', path: `role/${name}` })),
  fc
    .constantFrom<JsonObject>(
      { cluster_host: 'https://by-hand', pem_keys: [publicKey], issuer: 'by hand' },
      { cluster_host: 'https://by-hand', pem_keys: [publicKey], token_reviewer_jwt: 'by-hand' },
    )
    .map((body): HandAction => ({ who: 'owner', method: 'POST', path: 'config', body })),
);

export const drift: fc.Arbitrary<readonly HandAction[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: ofWorkspace }, { weight: 1, arbitrary: ofMount }),
  { maxLength: 4 },
);
