import { describe, expect, it } from 'vitest';
import {
  selectorProblem,
  selectsEverything,
} from '../../../src/kinds/cluster-auth-role/namespace-selector.ts';

describe('A namespace selector is refused', () => {
  it.each([
    ['matchLabels: {}\n---\nmatchLabels: { team: a }\n', 'it holds several documents'],
    ['matchLabels: {}\n--- # the second\n', 'it holds several documents'],
    ['team=a', 'it is no LabelSelector in JSON or YAML'],
    ['[a', 'it is no LabelSelector in JSON or YAML'],
    ['[matchLabels]', 'it is no LabelSelector in JSON or YAML'],
    ['matchExpressions: [{ key: team, operator: Exists }]', 'it has matchExpressions'],
    ['matchLabel: { team: a }', '"matchLabel" is no member of a LabelSelector'],
    ['matchLabels: [team]', 'its matchLabels are no map of labels'],
    ['matchLabels: { team: true }', 'the value of its label "team" is no text'],
  ])('when it is %j', (text, message) => {
    expect(selectorProblem(text)?.message).toContain(message);
  });

  it('with the member that was probably meant', () => {
    expect(selectorProblem('labels: { team: a }')?.fix).toBe('did you mean "matchLabels"?');
  });
});

describe('A namespace selector is taken', () => {
  it.each([
    'matchLabels: { team: a }',
    '{"matchLabels": {"team": "a"}}',
    'matchLabels: { floor: 4 }',
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
