/** Mistakes of syntax: the text is not YAML, or not the YAML that was meant. */
import { clusterAuth, network, payments, platform, type Slip, slip } from './slip.ts';

export const syntax: readonly Slip[] = [
  slip(
    'a text has half of a surrogate pair',
    network,
    ['description: Public and', 'description: "\\uD800 and \\uD83D\\uDE00" # Public'],
    ['lone-surrogate 34:16', 'write the character itself, or its whole code, such as "\\U0001F600"'],
  ),
  {
    slip: 'a key that users choose has half of a surrogate pair',
    file: platform,
    from: 'tags: { env: prod, team: platform }',
    to: 'tags: { "\\udc00": prod, team: platform }',
    expected: [
      [`bad-tag ${platform}:39:11`, '1 to 128 of letters, digits and _ . = + - @ :'],
      [
        `lone-surrogate ${platform}:39:11`,
        'write the character itself, or its whole code, such as "\\U0001F600"',
      ],
    ],
  },
  slip(
    'a line is indented with a tab',
    network,
    ['  workingDirectory: network/prod', '\tworkingDirectory: network/prod'],
    ['yaml-syntax 11:1', 'indent with spaces'],
  ),
  slip(
    'a colon is missing',
    network,
    ['workingDirectory: network/prod', 'workingDirectory network/prod'],
    ['yaml-syntax 11:3', 'write a field and a colon, or indent a continued text'],
  ),
  slip(
    'a colon has no space after it',
    network,
    ['workingDirectory: network/prod', 'workingDirectory:network/prod'],
    ['yaml-syntax 11:19', 'write "field: value"'],
  ),
  slip(
    'a line is indented too far',
    network,
    ['  workingDirectory: network/staging', '   workingDirectory: network/staging'],
    ['yaml-syntax 24:4', 'line it up with them'],
  ),
  slip(
    'a quote is never closed',
    network,
    ['description: Public and', 'description: "Public and'],
    ['yaml-syntax 34:16', 'close it'],
  ),
  slip(
    'a bracket is never closed',
    payments,
    ['[payments, pci]', '[payments, pci'],
    ['yaml-syntax 12:13', 'close it'],
  ),
  slip(
    'a value holds a colon',
    network,
    ['description: Public and', 'description: Zones: public and'],
    ['yaml-syntax 34:21', 'put a value that holds ": " in quotes, or start a new line'],
  ),
  slip(
    'a pattern that begins with a star has no quotes',
    network,
    ['[/network/prod/**/*, /mod', '[**/*, /mod'],
    ['yaml-syntax 13:21', 'put the value in quotes'],
  ),
  slip(
    'a wildcard has no quotes',
    clusterAuth,
    ['boundServiceAccountNames: [reports-*]', 'boundServiceAccountNames: [*]'],
    ['yaml-syntax 60:30', 'put the value in quotes'],
  ),
  slip(
    'a value begins with an at sign',
    network,
    ['description: Public and', 'description: @public and'],
    ['yaml-syntax 34:16', 'put the value in quotes'],
  ),
  slip(
    'an alias has no anchor',
    platform,
    ['description: Dashboards and alerts', 'description: *dashboards'],
    [
      'yaml-syntax 32:16',
      'anchors reach no further than their own document: define it there, or write the value out',
    ],
  ),
  slip(
    'a template was not rendered',
    network,
    ['description: Public and private zones', 'description: {{ zones }}'],
    ['yaml-syntax 34:16', 'render the manifests first and pipe them in, with "-" as the path'],
  ),
  slip(
    'a merge conflict was committed',
    network,
    ['  description: Public and', '<<<<<<< HEAD\n  description: Public and'],
    ['yaml-syntax 34:1', 'resolve it, and remove its marks'],
  ),
  slip(
    'a field is written twice',
    payments,
    ['  tagNames: [payments, pci]', '  tagNames: [payments, pci]\n  workingDirectory: db'],
    ['duplicate-field 13:3', 'keep one of them'],
  ),
  slip(
    'the line between two documents is missing',
    platform,
    [
      '---\napiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: cluster-prod',
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: cluster-prod',
    ],
    ['missing-separator 10:1', 'put a line "---" before it'],
  ),
  slip(
    'the line between two documents has two dashes',
    platform,
    [
      '---\napiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: cluster-prod',
      '--\napiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: cluster-prod',
    ],
    ['yaml-syntax 10:1', 'write "---"'],
  ),
];
