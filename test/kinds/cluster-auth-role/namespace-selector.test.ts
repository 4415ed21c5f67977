import { describe, expect, it } from 'vitest';
import {
  isSameSelector,
  selectorLabels,
  selectorProblem,
  selectsEverything,
} from '../../../src/kinds/cluster-auth-role/login-conditions.ts';
import { recordedSelectors } from '../../support/server/cluster-auth/replay/vectors.ts';

describe('A namespace selector is refused', () => {
  it.each([
    ['matchLabels: {}\n---\nmatchLabels: { team: a }\n', 'it contains several documents'],
    ['matchLabels: {}\n--- # the second\n', 'it contains several documents'],
    ['team=a', 'it is not a LabelSelector in JSON or YAML'],
    ['[a', 'it is not a LabelSelector in JSON or YAML'],
    ['[matchLabels]', 'it is not a LabelSelector in JSON or YAML'],
    ['matchExpressions: [{ key: team, operator: Exists }]', 'it has matchExpressions'],
    ['matchLabel: { team: a }', '"matchLabel" is not a field of a LabelSelector'],
    ['matchLabels: [team]', 'its matchLabels are not a map of labels'],
    ['matchLabels: { team: [true] }', 'the value of its label "team" is not a string'],
    ['!!binary aGk=', 'it is not a LabelSelector in JSON or YAML'],
    ['\t', 'it is not a LabelSelector in JSON or YAML'],
    ['# none\n \t', 'it is not a LabelSelector in JSON or YAML'],
    ['matchLabels: { team: a }\n\t', 'it is not a LabelSelector in JSON or YAML'],
  ])('when it is %j', (text, message) => {
    expect(selectorProblem(text)?.message).toContain(message);
  });

  it('and the message names the member that was probably meant', () => {
    expect(selectorProblem('labels: { team: a }')?.fix).toBe('did you mean "matchLabels"?');
  });
});

describe('A namespace selector is accepted', () => {
  it.each([
    'matchLabels: { team: a }',
    '{"matchLabels": {"team": "a"}}',
    'matchLabels: { floor: 4 }',
    'matchLabels: { floor: 0x10, day: 2020-01-01, odd: yes, no: ~ }',
    'matchLabels: { team: a, team: b }',
    '!x {matchLabels: { team: a }}',
    'matchLabels: {}',
    'matchLabels:',
    'matchExpressions:',
    '',
    '---\nmatchLabels: { team: a }\n',
  ])('when it is %j', (text) => {
    expect(selectorProblem(text)).toBeUndefined();
  });
});

describe('A namespace selector admits every namespace', () => {
  it.each([
    '{}',
    'matchLabels: {}',
    'matchLabels:',
    'labels: { team: a }',
    '# nothing is said\n',
    '{}\n---\nteam: a',
  ])('when it is %j', (text) => {
    expect(selectsEverything(text)).toBe(true);
  });

  it.each([
    '',
    'matchLabels: { team: a }',
    'MatchLabels: { team: a }',
    'matchExpressions: [{}]',
    '[a',
    'a text',
  ])('but not when it is %j', (text) => {
    expect(selectsEverything(text)).toBe(false);
  });
});

describe('A namespace selector is parsed like in the service', () => {
  const recorded = recordedSelectors().map((line) => [line.selector, line] as const);

  /** Selectors that the service accepts, but that are probably mistakes. */
  const refusedHere = [/\}\s*(?:x|\{)/, /foo/, /MATCHLABELS|matchlabels/];

  it.each(recorded)('with the recorded result: %j', (selector, { namespaceLabels, answer }) => {
    const isRefused = answer.write === 400 || refusedHere.some((form) => form.test(selector));
    expect(selectorProblem(selector) !== undefined).toBe(isRefused);
    if (isRefused) return;
    const labels = selectorLabels(selector);
    const admits = namespaceLabels.map((of) => labels.every(([name, value]) => of[name] === value));
    // A value that no namespace can have admits nothing, regardless of the cluster's answer.
    const isPossible = labels.every(([, value]) => !/[+:]/.test(value));
    const logins = answer.logins ?? [];
    expect(admits.map((isAdmitted) => (isAdmitted && isPossible ? 200 : 403))).toEqual(logins);
    expect(selectsEverything(selector)).toBe(logins.every((login) => login === 200));
  });

  it.each([
    ['matchLabels: { team: 16 }', '{"matchLabels":{"team":"16"}}', true],
    ['matchLabels: { team: 2020-01-01 }', '{"matchLabels":{"team":"2020-01-01"}}', true],
    ['matchLabels: { team: 0x10 }', '{"matchLabels":{"team":"16"}}', false],
    ['matchLabels: { team: yes }', '{"matchLabels":{"team":"true"}}', false],
    ['matchLabels: { team: 1.50 }', '{"matchLabels":{"team":"1.5"}}', false],
  ])(
    'and compared by its text, %j and %j, so that another notation is a difference',
    (one, other, isSame) => {
      expect(isSameSelector(one, other)).toBe(isSame);
    },
  );
});
