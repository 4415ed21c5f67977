import { describe, expect, it } from 'vitest';
import { workspace as kind } from '../../../src/kinds/workspace/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare } from '../../support/services/workspaces/plan-organization.ts';
import { knownDialect } from '../../support/kinds/known-dialect.ts';

const others = {
  declared: () => undefined,
  target: { name: 'acme', service: 'workspaces', url: 'embedded', dialect: 'neutral' },
  dialect: knownDialect('workspaces'),
} as const;

/** `code at path`, with warnings marked. */
function findings(spec: Spec): string[] {
  const found = kind.check?.(declare('Workspace', 'app', spec), others) ?? [];
  return found.map(
    ({ code, path, severity }) => `${severity === 'warning' ? '(warning) ' : ''}${code} at ${path.join('.')}`,
  );
}

describe('A workspace is refused when', () => {
  it.each<[string, Spec, readonly string[]]>([
    [
      'it has operations beside an execution mode',
      { operations: true, executionMode: 'remote' },
      ['operations-with-mode at operations'],
    ],
    [
      'its source name is the creator mark of a stack',
      { sourceName: 'trueup/payments' },
      ['creator-mark-declared at sourceName'],
    ],
    [
      'its source name is nearly such a mark',
      { sourceName: ' TrueUp/x y' },
      ['creator-mark-declared at sourceName'],
    ],
    ['agent mode has no pool', { executionMode: 'agent' }, ['agent-pool-missing at executionMode']],
    [
      'agent mode has a null pool',
      { executionMode: 'agent', agentPoolId: null },
      ['agent-pool-missing at agentPoolId'],
    ],
    [
      'a pool is given beside another mode',
      { executionMode: 'local', agentPoolId: 'apool-1' },
      ['agent-pool-without-agent at agentPoolId'],
    ],
    [
      'a pool is given without a mode',
      { agentPoolId: 'apool-1' },
      ['agent-pool-without-agent at agentPoolId'],
    ],
    [
      'a pool is given and inherited',
      { executionMode: 'agent', agentPoolId: 'apool-1', settingOverwrites: { agentPool: false } },
      ['agent-pool-inherited at agentPoolId'],
    ],
    [
      'an own mode is announced but not given',
      { settingOverwrites: { executionMode: true } },
      ['execution-mode-missing at settingOverwrites.executionMode'],
    ],
    [
      'an own mode is announced but null',
      { executionMode: null, settingOverwrites: { executionMode: true } },
      ['execution-mode-missing at settingOverwrites.executionMode'],
    ],
    [
      'a mode is given and inherited',
      { executionMode: 'remote', settingOverwrites: { executionMode: false } },
      ['execution-mode-inherited at settingOverwrites.executionMode'],
    ],
    [
      'it inherits its mode but has a pool of its own',
      { executionMode: null, settingOverwrites: { agentPool: true } },
      ['agent-pool-without-mode at settingOverwrites.agentPool'],
    ],
    [
      'prefixes are given beside patterns',
      { triggerPrefixes: ['a'], triggerPatterns: ['/a/*'] },
      ['two-triggers at triggerPatterns'],
    ],
    [
      'a regular expression is given beside prefixes',
      { triggerPrefixes: ['a'], vcsRepo: { tagsRegex: 'v.*' } },
      ['two-triggers at vcsRepo.tagsRegex'],
    ],
    [
      'a regular expression is given beside file triggers',
      { fileTriggersEnabled: true, vcsRepo: { tagsRegex: 'v.*' } },
      ['regex-with-file-triggers at fileTriggersEnabled'],
    ],
    [
      'a regular expression is given beside file triggers that are on by default',
      { fileTriggersEnabled: null, vcsRepo: { tagsRegex: 'v.*' } },
      ['regex-with-file-triggers at fileTriggersEnabled'],
    ],
    [
      'a repository has two connections',
      { vcsRepo: { identifier: 'a/b', oauthTokenId: 'ot-1', vcsAppInstallationId: 'app-1' } },
      ['two-connections at vcsRepo.vcsAppInstallationId'],
    ],
    [
      'a duration is 0',
      { autoDestroyActivityDuration: '0d' },
      ['bad-duration at autoDestroyActivityDuration'],
    ],
    [
      'a duration has five digits',
      { autoDestroyActivityDuration: '12345h' },
      ['bad-duration at autoDestroyActivityDuration'],
    ],
    [
      'a duration has another unit',
      { autoDestroyActivityDuration: '2w' },
      ['bad-duration at autoDestroyActivityDuration'],
    ],
    ['a time has no time zone', { autoDestroyAt: '2031-01-31T08:00:00' }, ['bad-timestamp at autoDestroyAt']],
    ['a time is invalid', { autoDestroyAt: '2031-13-31T08:00:00Z' }, ['bad-timestamp at autoDestroyAt']],
    ['a flat tag has a space', { tagNames: ['ok', 'not ok'] }, ['bad-tag-name at tagNames.1']],
    ['a flat tag is listed twice', { tagNames: ['prod', 'Prod'] }, ['duplicate-tag at tagNames.1']],
  ])('%s', (_, spec, expected) => {
    // As written, because the check also runs before deprecated fields are upgraded.
    const found = kind.check?.({ ...declare('Workspace', 'app'), spec }, others) ?? [];
    const lines = found.map(
      ({ code, path, severity }) =>
        `${severity === 'warning' ? '(warning) ' : ''}${code} at ${path.join('.')}`,
    );
    expect(lines).toEqual(expected);
  });
});

describe('A workspace is fine when', () => {
  it.each<[string, Spec]>([
    ['it declares nothing', {}],
    ['agent mode has a pool', { executionMode: 'agent', agentPoolId: 'apool-1' }],
    ['agent mode inherits its pool', { executionMode: 'agent', settingOverwrites: { agentPool: false } }],
    ['a null pool is given beside another mode', { executionMode: 'remote', agentPoolId: null }],
    [
      'it inherits its mode in two ways',
      { executionMode: null, settingOverwrites: { executionMode: false } },
    ],
    [
      'an empty list of triggers is given beside a full one',
      { triggerPrefixes: [], triggerPatterns: ['/a/*'] },
    ],
    ['a regular expression is empty', { fileTriggersEnabled: true, vcsRepo: { tagsRegex: '' } }],
    [
      'it declares all auto-destroy settings',
      { autoDestroyAt: '2031-01-31T08:00+01:00', autoDestroyActivityDuration: '9999h' },
    ],
  ])('%s', (_, spec) => {
    expect(findings(spec)).toEqual([]);
  });

  it('its regular expression is doubtful, with a warning', () => {
    expect(findings({ vcsRepo: { tagsRegex: '(' } })).toEqual([
      '(warning) doubtful-regex at vcsRepo.tagsRegex',
    ]);
  });
});

describe('The deprecated field operations', () => {
  const fold = (spec: Spec) => kind.upgrade?.(spec);

  it('is upgraded to the execution mode', () => {
    expect(fold({ operations: false })).toEqual({ executionMode: 'local' });
    expect(fold({ operations: true })).toEqual({ executionMode: 'remote' });
    expect(fold({ operations: null })).toEqual({ executionMode: 'remote' });
  });

  it('is left for validation beside an execution mode, and a second upgrade changes nothing', () => {
    const both = { operations: false, executionMode: 'remote' };
    expect(fold(both)).toEqual(both);
    expect(fold(fold({ operations: false }) ?? {})).toEqual({ executionMode: 'local' });
  });
});
