/** Mistakes in a single field, value or document. */
import { clusterAuth, network, payments, platform, type Slip, slip } from './slip.ts';

const oneName = 'manifests use one name for all services';
const camelCase = "fields have the API's names in camelCase";
/** The engine version of one workspace of several that have the same. */
const engineVersion = 'engineVersion: ~> 1.9.0\n  workingDirectory: network/prod';
const engineNamed = (name: string) => engineVersion.replace('engineVersion', name);

export const shape: readonly Slip[] = [
  slip(
    'a field is misspelt',
    network,
    ['workingDirectory: network/prod', 'workingDirectroy: network/prod'],
    ['unknown-field 11:3', 'did you mean "workingDirectory"?'],
  ),
  slip(
    'a field of a field is misspelt',
    network,
    [
      'oauthTokenId: ot-acme }\n  triggerPatterns: [/network/prod',
      'oauthToken: ot-acme }\n  triggerPatterns: [/network/prod',
    ],
    ['unknown-field 12:54', 'did you mean "oauthTokenId"?'],
  ),
  slip(
    'a field has the spelling of the API',
    network,
    [engineVersion, engineNamed('engine-version')],
    ['unknown-field 10:3', `write "engineVersion": ${camelCase}`],
  ),
  slip(
    'a field has the name of a real service',
    network,
    [engineVersion, engineNamed('terraformVersion')],
    ['unknown-field 10:3', `write "engineVersion": ${oneName}`],
  ),
  slip(
    'a field has the name and the spelling of a real service',
    clusterAuth,
    ['clusterHost: https', 'kubernetes_host: https'],
    ['unknown-field 7:3', `write "clusterHost": ${oneName}`],
  ),
  slip(
    'a field of a role has the spelling of the API',
    clusterAuth,
    ['tokenTtl: 1h\n', 'token_ttl: 1h\n'],
    ['unknown-field 29:3', `write "tokenTtl": ${camelCase}`],
  ),
  slip(
    'a field is outside of the spec',
    platform,
    ['metadata: { name: sandbox }', 'autoApply: true\nmetadata: { name: sandbox }'],
    ['unknown-field 5:1', 'move "autoApply" under "spec"'],
  ),
  slip(
    'a field is in the metadata',
    platform,
    ['{ name: sandbox }', '{ name: sandbox, autoApply: true }'],
    ['unknown-field 5:28', 'move "autoApply" under "spec"'],
  ),
  slip(
    'a boolean is in quotes',
    payments,
    ['autoApply: true', 'autoApply: "yes"'],
    ['wrong-type 20:14', 'write true, without quotes'],
  ),
  slip(
    'a number is in quotes',
    clusterAuth,
    ['tokenNumUses: 50', 'tokenNumUses: "50"'],
    ['wrong-type 54:17', 'write 50, without quotes'],
  ),
  slip(
    'a duration has a fraction and no unit',
    clusterAuth,
    ['tokenTtl: 1h', 'tokenTtl: 1.5'],
    ['wrong-type 29:13', 'seconds, or a duration such as "90m", "1h30m" or "7d"'],
  ),
  slip(
    'a duration is a boolean',
    clusterAuth,
    ['tokenTtl: 1h', 'tokenTtl: true'],
    ['wrong-type 29:13', 'seconds, or a duration such as "90m", "1h30m" or "7d"'],
  ),
  slip(
    'a lifetime has the short name that the API once had',
    clusterAuth,
    ['tokenTtl: 1h', 'ttl: 1h'],
    ['unknown-field 29:3', 'did you mean "tokenTtl"?'],
  ),
  slip(
    'a maximum has the short name that the API once had',
    clusterAuth,
    ['tokenMaxTtl: 8h', 'max_ttl: 8h'],
    ['unknown-field 30:3', 'did you mean "tokenMaxTtl"?'],
  ),
  slip(
    'a field lacks its first word',
    clusterAuth,
    ['tokenNumUses: 50', 'numUses: 50'],
    ['unknown-field 54:3', 'did you mean "tokenNumUses"?'],
  ),
  slip(
    'a tag value is a number',
    payments,
    [
      "tags: { env: prod, team: payments, cost-center: '4711' }",
      'tags: { env: prod, team: payments, cost-center: 4711 }',
    ],
    ['wrong-type 13:51', "put it in quotes: '4711'"],
  ),
  slip(
    'a list is written as a text',
    clusterAuth,
    ['Namespaces: [payments, finance]', 'Namespaces: payments'],
    ['wrong-type 61:34', 'write a list: [payments]'],
  ),
  slip(
    'a value is not one of the allowed ones',
    platform,
    ['executionMode: local', 'executionMode: locale'],
    ['not-allowed 8:18', 'did you mean "local"?'],
  ),
  slip(
    'the kind does not exist',
    platform,
    ['kind: TagBindings', 'kind: TagBinding'],
    ['unknown-kind 36:7', 'did you mean "TagBindings"?'],
  ),
  slip(
    'the apiVersion is unknown',
    clusterAuth,
    ['v1\nkind: ClusterAuthConfig', 'v1beta1\nkind: ClusterAuthConfig'],
    ['not-allowed 3:13', 'write "trueup.dev/v1"'],
  ),
  slip('the name is missing', platform, ['{ name: sandbox }', '{}'], ['missing-field 5:1', 'add "name"']),
  slip(
    'the name has a space',
    platform,
    ['{ name: sandbox }', '{ name: sand box }'],
    ['pattern 5:19', 'write "sand-box"'],
  ),
  slip(
    'the config has another name than "config"',
    clusterAuth,
    ['{ name: config }', '{ name: prod }'],
    ['pattern 5:19', 'write "config"'],
  ),
  slip(
    'the metadata is missing',
    platform,
    ['metadata: { name: sandbox }\n', ''],
    ['missing-field 3:1', 'add "metadata"'],
  ),
  slip(
    'the spec is empty',
    platform,
    ['spec:\n  description: Dashboards and alerts', 'spec:'],
    ['wrong-type 31:1', 'write "spec: {}", or give it fields'],
  ),
  slip(
    'a field without a default is null',
    network,
    [engineVersion, engineVersion.replace('~> 1.9.0', 'null')],
    ['no-default 10:18', 'give it a value, or leave "engineVersion" out, which means "not managed"'],
  ),
  slip(
    'the lifetime of a token is not a duration',
    clusterAuth,
    ['tokenTtl: 30m', 'tokenTtl: 30min'],
    ['pattern 40:13', 'seconds, or a duration such as "90m", "1h30m" or "7d"'],
  ),
  slip(
    'a reviewer JWT is written out',
    clusterAuth,
    ['  disableLocalCaJwt: true', '  tokenReviewerJwt: eyJhbGciOiJSUzI1NiJ9'],
    [
      'literal-secret 20:3',
      'put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
    ],
  ),
];
