/** Mistakes in the combination of fields or documents. */
import { clusterAuth, network, payments, platform, type Slip, slip } from './slip.ts';

export const rules: readonly Slip[] = [
  slip(
    'a document is declared twice',
    payments,
    ['{ name: payments-api-staging }', '{ name: payments-api-prod }'],
    ['duplicate 17:19', 'keep one of them'],
  ),
  slip(
    'two names of roles differ only in case',
    clusterAuth,
    ['{ name: payments-db }', '{ name: Payments-API }'],
    ['same-name 35:19', 'keep one of them'],
  ),
  slip(
    'a short form and a document declare the same tags',
    platform,
    ['  description: Dashboards', '  tags: {}\n  description: Dashboards'],
    ['duplicate 38:19', 'keep one of them'],
  ),
  slip(
    'the target does not exist',
    platform,
    ['{ name: sandbox }', '{ name: sandbox, target: acmee }'],
    ['unknown-target 5:36', 'did you mean "acme"?'],
  ),
  slip(
    'the target is of another service',
    platform,
    ['{ name: sandbox }', '{ name: sandbox, target: prod-cluster }'],
    ['wrong-service 5:36', 'write "acme", or leave "target" out'],
  ),
  slip(
    'a role is outside of "owns" of the target',
    clusterAuth,
    ['{ name: payments-db }', '{ name: billing-db }'],
    ['outside-owns 35:19', 'rename it, or add a pattern to "owns" of the target'],
  ),
  slip(
    'a workspace consumes itself',
    payments,
    ['Consumers: [payments-api-prod]', 'Consumers: [payments-db-prod]'],
    ['consumer-of-itself 37:26', 'remove it from the list'],
  ),
  slip(
    'consumers are listed while everyone may read',
    network,
    ['  autoApply: true', '  globalRemoteState: true'],
    ['consumers-while-global 28:25', 'set "globalRemoteState" of the workspace to false, or remove the list'],
  ),
  slip(
    'the execution mode agent has no pool',
    payments,
    ['  agentPool: build\n', ''],
    [
      'agent-pool-missing 54:18',
      'add "agentPool", or inherit the pool with "settingOverwrites: { agentPool: false }"',
    ],
  ),
  slip(
    'a pool is set without the execution mode agent',
    platform,
    ['executionMode: local', 'executionMode: local\n  agentPoolId: apool-build'],
    ['agent-pool-without-agent 9:3', 'write "executionMode: agent", or remove "agentPoolId"'],
  ),
  slip(
    'patterns and prefixes are both set',
    network,
    ['  autoApply: true\n', '  triggerPrefixes: [network]\n'],
    ['two-triggers 26:3', 'keep the one that should start runs'],
  ),
  slip(
    'there are ten tags',
    network,
    [
      '{ env: staging, team: network }',
      '{ a: "", b: "", c: "", d: "", e: "", f: "", g: "", h: "", i: "", j: "" }',
    ],
    ['too-many-tags 27:9', 'remove some, or use flat tags ("tagNames" of the workspace)'],
  ),
  slip(
    'a tag key belongs to the service',
    network,
    ['{ env: staging, team: network }', '{ "hc:env": staging }'],
    ['reserved-tag 27:11', 'use another key'],
  ),
  slip(
    'the ownership tag is declared as a tag',
    network,
    ['{ env: staging, team: network }', '{ env: staging, trueup-stack: payments }'],
    ['claim-as-tag 27:25', 'remove it: trueup writes it from "metadata.protect" and "metadata.onRemove"'],
  ),
  slip(
    'a duration has an unknown unit',
    payments,
    ['description: Databases of the staging environment\n', 'autoDestroyActivityDuration: 2 weeks\n'],
    ['bad-duration 43:32', 'write it like "14d" or "36h"'],
  ),
  slip(
    'a token lives longer than it may',
    clusterAuth,
    ['tokenTtl: 1h\n', 'tokenTtl: 10h\n'],
    ['ttl-over-maximum 29:13', 'lower "tokenTtl", or raise "tokenMaxTtl"'],
  ),
  slip(
    'a batch token has a period',
    clusterAuth,
    ['tokenType: batch', 'tokenType: batch\n  tokenPeriod: 1h'],
    ['batch-periodic 66:14', 'remove "tokenPeriod", or make "tokenType" another one'],
  ),
  slip(
    'a wildcard is in a list with names',
    clusterAuth,
    ['Names: [payments-api]', 'Names: [payments-api, "*"]'],
    ['mixed-wildcard 26:44', 'make "*" the only value, or remove it'],
  ),
  slip(
    'an address block has an invalid prefix length',
    clusterAuth,
    ['10.20.0.0/16', '10.20.0.0/99'],
    ['invalid-cidr 42:21', 'write it like "10.20.0.0/16" or "10.1.2.3"'],
  ),
  slip(
    'a certificate was cut off',
    clusterAuth,
    ['    -----BEGIN CERTIFICATE-----\n', ''],
    ['invalid-ca-cert 8:18', 'give the whole text from "-----BEGIN CERTIFICATE-----" on'],
  ),
  slip(
    'a removal request has a spec',
    platform,
    ['{ name: sandbox }', '{ name: sandbox, remove: safe }'],
    ['not-allowed 6:1', 'remove "spec"'],
  ),
];
